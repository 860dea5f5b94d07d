import { texts } from "../app/text";

export const t = texts(
  {
    keys: "Arrows move, plus and minus zoom, 0 shows all. J and K go through the memories in sight, Enter takes the middle or the memory gone to. Square brackets change the radius, Escape ends.",
    surface: "Map, moved by keys",
    zoomIn: "Zoom in (+)",
    zoomOut: "Zoom out (-)",
    whole: "Show all (0)",
    worked: "worked",
    failed: "failed",
    unknown: "no outcome",
    cell: "{n} here, {failed} of {known} failed",
    outline: "An outline is one memory.",
    cellUnknown: "{n} here, none with an outcome",
  },
  {
    keys: "方向键移动，加减号缩放，0 显示全部。J 和 K 逐个浏览可见记忆，回车选取中心或当前记忆。方括号调整半径，Esc 结束。",
    surface: "地图，可用键盘移动",
    zoomIn: "放大 (+)",
    zoomOut: "缩小 (-)",
    whole: "显示全部 (0)",
    worked: "成功",
    failed: "失败",
    unknown: "无结果",
    cell: "此处 {n} 条，{known} 条有结果，其中 {failed} 条失败",
    outline: "空心框为单条记忆。",
    cellUnknown: "此处 {n} 条，均无结果",
  },
);
