// The node sums perceptions and episodes up in English, clause by clause. In Chinese each
// known clause is translated; another stays as the node writes it.

import { lang } from "./text";

const clauses: [RegExp, string][] = [
  // episodes
  [/^(\d+) facts? and (\d+) perceptions? in (.+?)\.?$/, "$1 条事实与 $2 条感知，历时 $3"],
  [/^(\d+) succeeded and (\d+) failed\.?$/, "成功 $1，失败 $2"],
  [/^(\d+) merged\.?$/, "合并 $1 条"],
  [/^outcome ([\d.]+?)\.?$/, "结果 $1"],
  [/^streams dropped (\d+) and missed (\d+) samples\.?$/, "数据流丢弃 $1 个、缺失 $2 个采样"],
  // traces and recorded topics
  [/^(\d+)-axis wrench$/, "$1 轴力/力矩"],
  [/^([\d,]+) samples? over (.+)$/, "$1 个采样，历时 $2"],
  [/^([\d,]+) samples?$/, "$1 个采样"],
  [/^(.+) peak (.+) at sample (\d+)$/, "$1 峰值 $2（第 $3 个采样）"],
  [/^(.+) peak (.+) at (.+)$/, "$1 峰值 $2（$3 时）"],
  [/^gap of (.+) at (.+)$/, "$2 时间断 $1"],
  [/^([\d,]+) readings? missing$/, "缺失 $1 个读数"],
  [/^([\d,]+) messages? of (\S+) on (\S+) over (.+)$/, "$3 的 $1 条 $2 消息，历时 $4"],
  [/^([\d,]+) messages? of (\S+) on (\S+)$/, "$3 的 $1 条 $2 消息"],
  // space
  [/^(beginning of a )?trajectory$/, "轨迹"],
  [/^([\d,]+) poses? over (.+)$/, "$1 个位姿，历时 $2"],
  [/^([\d,]+) poses?$/, "$1 个位姿"],
  [/^(.+) path$/, "路径长 $1"],
  [/^ends (.+) from its start$/, "终点距起点 $1"],
  [/^within (.+)$/, "范围 $1"],
  [/^point cloud$/, "点云"],
  [/^([\d,]+) points?$/, "$1 个点"],
  [/^fields (.+)$/, "字段 $1"],
  [/^([\d,]+) missing$/, "缺失 $1"],
  [/^laser scan$/, "激光扫描"],
  [/^([\d,]+) rays? over (.+)$/, "$1 条射线，覆盖 $2"],
  [/^nearest (.+) at (.+)$/, "最近 $1，方向 $2"],
  [/^([\d,]+) rays? without return$/, "$1 条射线无返回"],
  // pictures and sounds
  [/^image\/(\S+) image$/, "$1 图像"],
  [/^image\/(\S+) depth image$/, "$1 深度图像"],
  [/^raw (\S+) image$/, "原始 $1 图像"],
  [/^raw (\S+) depth image$/, "原始 $1 深度图像"],
  [/^16-bit grey$/, "16 位灰度"],
  [/^brightness (.+)$/, "亮度 $1"],
  [/^truncated$/, "不完整"],
  [/^mono$/, "单声道"],
  [/^stereo$/, "立体声"],
  [/^(\d+)-bit$/, "$1 位"],
  [/^peak (.+) at (.+)$/, "峰值 $1（$2 时）"],
  [/^rms (.+)$/, "有效值 $1"],
  [/^silent$/, "无声"],
  [/^([\d,]+) bytes of (.+)$/, "$2，$1 字节"],
];

/** A summary of the node in the language of the page. */
export function summary(text: string): string {
  if (lang.value !== "zh") return text;
  const [head = "", ...said] = text.split(": "); // what follows is a text of the data
  const told = head.split(/[,;] /).map((clause) => {
    const known = clauses.find(([of]) => of.test(clause));
    return known ? clause.replace(known[0], known[1]) : clause;
  });
  return [told.join("，"), ...said].join(": ");
}
