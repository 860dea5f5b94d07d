// Compressed video of a topic, decoded by the browser's WebCodecs. The image follows the cursor.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { number } from "../app/text";
import { Button } from "../parts/controls";
import type { Cursor } from "../parts/perception_samples";
import { useSignalEffect } from "@preact/signals";
import { parse, type Chunk } from "./chunks";
import type { Recorded } from "./messages";
import { t } from "./recording.text";

const patience = 400; // milliseconds for an image before the decoder is flushed

/** Decodes the chunk that is asked for last; those before it back to a key only as needed. */
class Film {
  private decoder: VideoDecoder;
  private next = Infinity; // the chunk that the decoder takes next; only a key where it is Infinity
  private wanted = -1;
  private shown = -1;
  private busy = false;
  private came: (() => void) | undefined;

  constructor(
    private codec: string,
    private chunks: Chunk[],
    private draw: (frame: VideoFrame, index: number) => void,
    private failed: (why: string) => void,
  ) {
    this.decoder = new VideoDecoder({
      output: (frame) => {
        if (frame.timestamp === this.wanted || (frame.timestamp < this.wanted && frame.timestamp > this.shown && this.shown < 0)) {
          this.shown = frame.timestamp;
          this.draw(frame, frame.timestamp);
        }
        frame.close();
        this.came?.();
      },
      error: (e) => this.failed(e.message),
    });
  }

  async show(index: number): Promise<void> {
    this.wanted = index;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted !== this.shown && this.decoder.state !== "closed") {
        const target = this.wanted;
        const key = this.chunks.findLastIndex((c, i) => c.key && i <= target);
        if (key < 0) break;
        if (this.next > target || key > this.next) {
          this.decoder.reset();
          this.decoder.configure({ codec: this.codec, optimizeForLatency: true });
          this.next = key;
        }
        for (; this.next <= target; this.next++) {
          const { data, key } = this.chunks[this.next]!;
          this.decoder.decode(new EncodedVideoChunk({ type: key ? "key" : "delta", timestamp: this.next, data }));
        }
        const until = performance.now() + patience;
        while (this.shown !== target && this.wanted === target && performance.now() < until) {
          await new Promise<void>((done) => {
            this.came = done;
            setTimeout(done, 50);
          });
        }
        if (this.shown !== target && this.wanted === target) {
          await this.decoder.flush();
          this.next = Infinity;
          if (this.shown !== target) break; // a chunk without an image
        }
      }
    } catch (e) {
      this.failed(e instanceof Error ? e.message : String(e));
    } finally {
      this.busy = false;
    }
  }

  close(): void {
    if (this.decoder.state !== "closed") this.decoder.close();
  }
}

export function Video({ recorded, cursor, start, height }: { recorded: Recorded; cursor: Cursor; start: number; height?: number }) {
  const { codec, chunks } = useMemo(() => parse(recorded), [recorded]);
  const canvas = useRef<HTMLCanvasElement>(null);
  const film = useRef<Film | undefined>(undefined);
  const [why, setWhy] = useState<string>();
  const [index, setIndex] = useState(-1);
  const [playing, setPlaying] = useState(false);
  const at = (seconds: number | undefined) => Math.max(0, seconds === undefined ? 0 : chunks.findLastIndex((c) => c.time - start <= seconds + 1e-6));
  useEffect(() => {
    if (typeof VideoDecoder === "undefined") {
      setWhy(t("noVideo", { codec }));
      return;
    }
    let gone = false;
    void VideoDecoder.isConfigSupported({ codec }).then(
      ({ supported }) => {
        if (gone) return;
        if (!supported) {
          setWhy(t("noCodec", { codec }));
          return;
        }
        film.current = new Film(
          codec,
          chunks,
          (frame, i) => {
            const c = canvas.current;
            if (!c) return;
            if (c.width !== frame.displayWidth || c.height !== frame.displayHeight) [c.width, c.height] = [frame.displayWidth, frame.displayHeight];
            c.getContext("2d")!.drawImage(frame, 0, 0);
            setIndex(i);
          },
          () => setWhy(t("noCodec", { codec })),
        );
        void film.current.show(at(cursor.at));
      },
      () => gone || setWhy(t("noCodec", { codec })),
    );
    return () => {
      gone = true;
      film.current?.close();
      film.current = undefined;
    };
  }, [codec, chunks]);
  useSignalEffect(() => {
    const now = cursor.at;
    void film.current?.show(at(now));
  });
  useEffect(() => {
    if (!playing) return;
    const last = chunks.at(-1)!.time - start;
    let before = performance.now();
    let now = cursor.at === undefined || cursor.at >= last ? chunks[0]!.time - start : cursor.at;
    let frame = requestAnimationFrame(function run(time) {
      now = Math.min(now + (time - before) / 1000, last);
      before = time;
      cursor.move(now);
      if (now >= last) setPlaying(false);
      else frame = requestAnimationFrame(run);
    });
    return () => cancelAnimationFrame(frame);
  }, [playing]);
  if (why) return <p class="notice">{why}</p>;
  return (
    <div class="video">
      <canvas ref={canvas} role="img" aria-label={t("video", { topic: recorded.topic })} data-shown={index} style={{ maxHeight: `${height ?? 480}px` }} />
      <p class="messages-head">
        <Button icon={playing ? "pause" : "play"} onClick={() => setPlaying(!playing)}>
          {t(playing ? "pause" : "play")}
        </Button>
        <span class="dim number">{index >= 0 && t("frameOf", { n: number(index + 1), all: number(chunks.length) })}</span>
      </p>
    </div>
  );
}
