import type { PerspectiveCamera, Vector3 } from "three";

/** Words that stand at places of the scene, as elements over the canvas. */
export class Tags {
  private tags: { el: HTMLElement; where: Vector3 }[] = [];

  constructor(private readonly over: HTMLElement) {}

  add(text: string, where: Vector3, colour: string): void {
    const el = document.createElement("span");
    el.className = "space-tag";
    el.textContent = text;
    el.style.color = colour;
    this.over.append(el);
    this.tags.push({ el, where });
  }

  place(camera: PerspectiveCamera, box: HTMLElement): void {
    for (const { el, where } of this.tags) {
      const p = where.clone().project(camera);
      el.hidden = p.z > 1 || Math.abs(p.x) > 1 || Math.abs(p.y) > 1;
      el.style.transform = `translate(${((p.x + 1) / 2) * box.clientWidth + 5}px, ${((1 - p.y) / 2) * box.clientHeight - 9}px)`;
    }
  }

  clear(): void {
    for (const { el } of this.tags) el.remove();
    this.tags = [];
  }
}
