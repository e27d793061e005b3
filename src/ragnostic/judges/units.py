"""Units and measure words: which count as facts, which are one unit in several words."""

from __future__ import annotations

from collections.abc import Iterable

from ragnostic.judges.word_lists import listed

_SAME = {
    "天": "天 days day 个自然日 自然日",
    "周": "周 週 weeks week 个星期 星期 个礼拜 礼拜",
    "个月": "个月 個月 months month",
    "年": "年 years year",
    "小时": "个小时 小时 個小時 小時 个钟头 钟头 hours hour hrs hr",
    "分钟": "分钟 分鐘 minutes minute mins min",
    "秒": "秒钟 秒 seconds second",
    "工作日": "个工作日 工作日",
    "交易日": "个交易日 交易日",
    "季度": "个季度 季度 quarters quarter",
    "元": "元 圆 圓 块钱 塊錢 yuan rmb cny",
    "美元": "美元 美金 dollars dollar usd",
    "欧元": "欧元 歐元 euros euro eur",
    "英镑": "英镑 英鎊 gbp",
    "港元": "港元 港币 港幣 hkd",
    "日元": "日元 日圆 日圓 yen jpy",
    "%": "% percent per_cent",
    "‰": "‰",
    "千克": "千克 公斤 kilograms kilogram kg",
    "毫克": "毫克 milligrams milligram mg",
    "克": "克 grams gram",
    "吨": "吨 噸 tonnes tonne tons ton",
    "公里": "公里 千米 kilometers kilometres kilometer kilometre km",
    "厘米": "厘米 公分 釐米 centimeters centimetres cm",
    "毫米": "毫米 millimeters millimetres mm",
    "平方米": "平方米 m2",
    "平方公里": "平方公里 km2",
    "米": "米 meters metres meter metre",
    "毫升": "毫升 milliliters ml",
    "升": "升 liters litres liter litre",
    "℃": "°c 摄氏度 攝氏度",
    "倍": "倍",
    "岁": "岁 歲 周岁",
    "人": "人 people persons person",
    "公顷": "公顷 公頃 hectares hectare",
    "亩": "亩 畝",
    "度": "度 degrees degree",
    "瓦": "瓦",
    "千瓦": "千瓦 kw",
    "兆瓦": "兆瓦 mw",
    "gb": "gb",
    "mb": "mb",
    "tb": "tb",
    "kb": "kb",
}
MEASURES = (
    "年月日天周週号號时時点點分秒元圆圓块塊角毛个個名位次项項条條款章节節页頁种種类類份件台套"
    "辆輛家户戶所间間层層楼樓级級倍度岁歲米厘毫里克斤吨噸升亩畝季代期届屆批只隻支枝本册冊张張"
    "根片把颗顆粒瓶杯箱袋盒桶头頭匹架艘座栋棟幢门門句段篇首部集场場回趟遍轮輪步股成折人方"
)
_FORMS = {written: unit for unit, words in _SAME.items() for written in listed(words)}


def _pattern(written: str) -> str:
    """A Latin unit ends where the word ends, so that 5 min is not the start of 5 minors."""
    return rf"{written}(?![a-z0-9])" if written[-1].isascii() and written != "%" else written


def _any_of(units: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(_pattern, sorted(units, key=len, reverse=True)))})"


UNIT = _any_of(_FORMS)
"""Pattern of a unit in normalised text; it has no groups."""
ANY_MEASURE = f"(?:{UNIT}|[{MEASURES}])"
"""Pattern of what may follow a Chinese numeral that is a number."""
PLAIN_UNIT = _any_of(_SAME)
"""Pattern of a unit in plain text; it has no groups."""


def unit_form(written: str) -> str:
    """The one form of a unit.

    >>> unit_form("months"), unit_form("公斤"), unit_form("percent")
    ('个月', '千克', '%')
    """
    return _FORMS[" ".join(written.split())]
