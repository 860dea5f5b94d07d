import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { lang } from "../app/text";
import { detailOf, nameOf, remedyOf } from "./doctor_names";

afterEach(() => (lang.value = "en"));

const check = {
  detail: "40 % of 25 recalls found nothing",
  remedy: "ask in other words",
  code: "zero_hits",
  values: ["40", "25"],
};
const skipped = {
  detail: "not compared: it is still being read",
  remedy: "run robotmem doctor again",
  code: "still_loading",
};

test("in English the texts of the node", () => {
  assert.equal(nameOf("tags"), "tags");
  assert.equal(detailOf(check), check.detail);
  assert.equal(remedyOf(skipped), skipped.remedy);
});

test("in Chinese by the code, with the values", () => {
  lang.value = "zh";
  assert.equal(nameOf("tags"), "标签");
  assert.equal(detailOf(check), "25 次回忆中 40 % 无结果");
  assert.equal(remedyOf(skipped), "写入较少时再运行 robotmem doctor");
});

test("what has no code or an unknown one stays as the node writes it", () => {
  lang.value = "zh";
  assert.equal(nameOf("new check"), "new check");
  assert.equal(detailOf({ detail: "tags: 3 entries belong to none" }), "tags: 3 entries belong to none");
  assert.equal(detailOf({ ...check, code: "of_a_later_version" }), check.detail);
  assert.equal(remedyOf(check), check.remedy);
  assert.equal(remedyOf({ detail: "" }), "");
});
