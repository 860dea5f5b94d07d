// Files dropped anywhere on the dashboard, and the button for those who drop none.

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { percent, texts } from "../app/text";
import { Button } from "../parts/controls";
import { Icon } from "../parts/icons";
import { droppedFiles, recordingsOf } from "./recordings";
import { offer, open, running, shown } from "./sending";

const t = texts(
  { import: "Import recordings", running: "Import: {name}", drop: "Drop to import", hint: "MCAP, rosbag2, ROS 1 bags and ULog; files or folders" },
  { import: "导入录制", running: "导入：{name}", drop: "松开即可导入", hint: "MCAP、rosbag2、ROS 1 bag 与 ULog；文件或文件夹" },
);

export function ImportButton() {
  const now = running();
  return (
    <Button kind="quiet" icon="upload" label={now ? t("running", { name: now.item.name }) : t("import")} onClick={open}>
      {now && <span class="import-share number">{now.share === undefined ? "…" : percent(now.share)}</span>}
    </Button>
  );
}

/** The window is fetched when it is first shown. */
export function Imports() {
  const over = useSignal(false);
  const Panel = useSignal<{ view?: () => preact.ComponentChild }>({});
  useEffect(() => {
    if (!shown.value || Panel.value.view) return;
    void import("./panel").then((m) => (Panel.value = { view: m.panel }));
  }, [shown.value]);
  useEffect(() => take((is) => (over.value = is)), []);
  return (
    <>
      {over.value && (
        <div class="import-over" role="status">
          <Icon name="upload" size={40} />
          <p>{t("drop")}</p>
          <p class="dim">{t("hint")}</p>
        </div>
      )}
      {shown.value && Panel.value.view?.()}
    </>
  );
}

/** Takes files that are dropped on the page; others, such as a picture in a search, stay with their own target. */
function take(say: (over: boolean) => void): () => void {
  const files = (e: DragEvent) => !e.defaultPrevented && !!e.dataTransfer?.types.includes("Files");
  const enter = (e: DragEvent) => {
    if (!files(e)) return;
    e.preventDefault();
    say(true);
  };
  // Leaving an element for another within the page is no end; leaving the page has no other.
  const leave = (e: DragEvent) => !e.relatedTarget && say(false);
  const drop = (e: DragEvent) => {
    say(false);
    if (!files(e)) return;
    e.preventDefault();
    void droppedFiles(e.dataTransfer!).then((all) => offer(recordingsOf(all)));
  };
  addEventListener("dragenter", enter);
  addEventListener("dragover", enter);
  addEventListener("dragleave", leave);
  addEventListener("drop", drop);
  return () => {
    removeEventListener("dragenter", enter);
    removeEventListener("dragover", enter);
    removeEventListener("dragleave", leave);
    removeEventListener("drop", drop);
  };
}
