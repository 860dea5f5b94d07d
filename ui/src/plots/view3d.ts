// Points and paths in space, to be turned: a chunk of its own, fetched when the
// first is shown. x, y and z are the frame's, z points up. The picture is drawn
// when something has changed, never by itself.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  ColorManagement,
  Group,
  Line,
  LineBasicMaterial,
  LinearSRGBColorSpace,
  LineSegments,
  type Material,
  type Object3D,
  PerspectiveCamera,
  Points,
  PointsMaterial,
  Quaternion,
  Scene,
  Spherical,
  Vector3,
  WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { ramp } from "./ramp";
import { coloured, extent, type Colouring, type Extent, type Space } from "./space";
import { Tags } from "./space_tags";
import { stepBelow } from "./steps";

/** Colours as CSS writes them. */
export interface Look {
  ground: string;
  line: string;
  ink: string;
  axes: [x: string, y: string, z: string];
  start: string;
  end: string;
  dark: boolean;
}

export interface Labels {
  x: string;
  y: string;
  z: string;
  start: string;
  end: string;
}

export interface View3D {
  paint: (by: Colouring, look: Look) => void;
  /** Marks an entry; undefined none. */
  mark: (i: number | undefined) => void;
  reset: () => void;
  /** Turns by radians: around the z-axis, and up. */
  turn: (around: number, up: number) => void;
  zoom: (factor: number) => void;
  dispose: () => void;
}

interface Options {
  space: Space;
  by: Colouring;
  look: Look;
  labels: Labels;
  /** After every picture: how many units of length a CSS pixel is, in the middle. */
  onScale: (unitsPerPixel: number) => void;
  /** The side of a square of the grid. */
  onGrid: (side: number) => void;
  /** The browser has taken the graphics away. */
  onLost: () => void;
}

ColorManagement.enabled = false; // colours go to the screen as they are written

const fieldOfView = 45; // degrees
const filled = 0.86; // of the half width or height, by what is shown whole
const viewpoint = new Vector3(-0.62, -0.52, 0.59); // from behind, right and above
const triads = 24; // orientations drawn along a path, at most

/** Draws into an element. Throws where the browser has no WebGL. */
export function view3d(el: HTMLElement, o: Options): View3D {
  const renderer = new WebGLRenderer({ antialias: true });
  renderer.outputColorSpace = LinearSRGBColorSpace;
  renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
  renderer.domElement.setAttribute("aria-hidden", "true");
  el.append(renderer.domElement);
  const size = extent(o.space);
  const scene = new Scene();
  const camera = new PerspectiveCamera(fieldOfView, 1, size.radius / 200, size.radius * 200);
  camera.up.set(0, 0, 1);
  const controls = new OrbitControls(camera, renderer.domElement);
  controls.maxDistance = size.radius * 40;
  controls.minDistance = size.radius / 50;
  const tags = new Tags(el);

  let content: Group | undefined;
  let marked: Points | undefined;
  let wanted = 0;
  const draw = () => {
    wanted ||= requestAnimationFrame(() => {
      wanted = 0;
      renderer.render(scene, camera);
      tags.place(camera, el);
      const away = camera.position.distanceTo(controls.target);
      o.onScale((2 * away * Math.tan((fieldOfView * Math.PI) / 360)) / Math.max(el.clientHeight, 1));
    });
  };
  const reset = () => {
    controls.target.set(0, 0, 0);
    camera.position.copy(viewpoint).multiplyScalar(size.radius * 2.5);
    controls.update();
    // What is near looks larger: a few rounds find how far away all of it fits.
    for (let round = 0; round < 6; round++) {
      camera.updateMatrixWorld();
      const seen = corners(size).map((c) => c.project(camera));
      const reach = Math.max(...seen.map((p) => (p.z < 1 ? Math.max(Math.abs(p.x), Math.abs(p.y)) : 2)));
      camera.position.multiplyScalar(Math.min(Math.max(reach / filled, 0.5), 2));
    }
    controls.update();
    draw();
  };
  const paint = (by: Colouring, look: Look) => {
    if (content) discard(scene, content);
    content = new Group();
    tags.clear();
    renderer.setClearColor(new Color(look.ground));
    content.add(
      o.space.kind === "trajectory"
        ? path(o.space, size.middle, by, look, tags, o.labels)
        : points(o.space, size.middle, by, look),
    );
    content.add(floor(size, look, tags, o.labels, o.onGrid));
    scene.add(content);
    draw();
  };
  const mark = (i: number | undefined) => {
    if (marked) discard(scene, marked);
    marked = undefined;
    if (i !== undefined) {
      marked = dots([at(o.space, i, size.middle)], [new Color(o.look.ink)], 12);
      scene.add(marked);
    }
    draw();
  };
  const resize = () => {
    if (el.clientWidth === 0) return;
    renderer.setSize(el.clientWidth, el.clientHeight);
    camera.aspect = el.clientWidth / el.clientHeight;
    camera.updateProjectionMatrix();
    draw();
  };
  const fitted = new ResizeObserver(resize);
  renderer.domElement.addEventListener("webglcontextlost", o.onLost);
  controls.addEventListener("change", draw);
  fitted.observe(el);
  resize();
  paint(o.by, o.look);
  reset();
  return {
    paint(by, look) {
      o.look = look;
      paint(by, look);
    },
    mark,
    reset,
    turn(around, up) {
      const from = camera.position.clone().sub(controls.target);
      const sphere = new Spherical().setFromVector3(new Vector3(from.x, from.z, -from.y)); // its y points up
      sphere.theta += around;
      sphere.phi -= up;
      sphere.makeSafe();
      const to = new Vector3().setFromSpherical(sphere);
      camera.position.set(to.x, -to.z, to.y).add(controls.target);
      controls.update();
      draw();
    },
    zoom(factor) {
      const from = camera.position.clone().sub(controls.target);
      from.setLength(Math.min(Math.max(from.length() / factor, controls.minDistance), controls.maxDistance));
      camera.position.copy(controls.target).add(from);
      controls.update();
      draw();
    },
    dispose() {
      cancelAnimationFrame(wanted);
      fitted.disconnect();
      controls.dispose();
      for (const child of [...scene.children]) discard(scene, child);
      tags.clear();
      renderer.domElement.removeEventListener("webglcontextlost", o.onLost);
      renderer.dispose();
      renderer.forceContextLoss(); // a browser allows few contexts
      renderer.domElement.remove();
    },
  };
}

/** The corners of the box around the data, relative to its middle. */
function corners({ low, high, middle }: Extent): Vector3[] {
  const out: Vector3[] = [];
  for (const x of [low[0], high[0]])
    for (const y of [low[1], high[1]])
      for (const z of [low[2], high[2]]) out.push(new Vector3(x - middle[0], y - middle[1], z - middle[2]));
  return out;
}

function at(s: Space, i: number, middle: [number, number, number]): Vector3 {
  return new Vector3((s.x[i] ?? 0) - middle[0], (s.y[i] ?? 0) - middle[1], (s.z[i] ?? 0) - middle[2]);
}

function positions(s: Space, middle: [number, number, number]): BufferAttribute {
  const out = new Float32Array(s.x.length * 3);
  for (let i = 0; i < s.x.length; i++) at(s, i, middle).toArray(out, i * 3);
  return new BufferAttribute(out, 3);
}

function colours(s: Space, by: Colouring, look: Look): BufferAttribute {
  const out = new Float32Array(s.x.length * 3);
  if (by === "rgb" && s.rgb) {
    s.rgb.forEach((c, i) => out.set([(c >> 16) / 255, ((c >> 8) & 255) / 255, (c & 255) / 255], i * 3));
  } else {
    const { values, low, high } = coloured(s, by);
    values.forEach((v, i) => out.set(ramp(((v ?? low) - low) / (high - low || 1), look.dark), i * 3));
  }
  return new BufferAttribute(out, 3);
}

function points(s: Space, middle: [number, number, number], by: Colouring, look: Look): Points {
  const g = new BufferGeometry();
  g.setAttribute("position", positions(s, middle));
  g.setAttribute("color", colours(s, by, look));
  const n = s.x.length;
  return new Points(
    g,
    new PointsMaterial({
      size: (n > 20_000 ? 2 : n > 2000 ? 3 : 5) * Math.min(devicePixelRatio, 2),
      sizeAttenuation: false,
      vertexColors: true,
    }),
  );
}

function dots(where: Vector3[], colour: Color[], size: number): Points {
  const g = new BufferGeometry().setFromPoints(where);
  g.setAttribute("color", new BufferAttribute(new Float32Array(colour.flatMap((c) => c.toArray())), 3));
  return new Points(
    g,
    new PointsMaterial({
      size: size * Math.min(devicePixelRatio, 2),
      sizeAttenuation: false,
      vertexColors: true,
      depthTest: false,
    }),
  );
}

/** A path in the colours of time, its ends, and now and then how the body stood. */
function path(
  s: Space,
  middle: [number, number, number],
  by: Colouring,
  look: Look,
  tags: Tags,
  labels: Labels,
): Object3D {
  const out = new Group();
  const g = new BufferGeometry();
  g.setAttribute("position", positions(s, middle));
  g.setAttribute("color", colours(s, by, look));
  out.add(new Line(g, new LineBasicMaterial({ vertexColors: true })));
  out.add(
    new Points(
      g,
      new PointsMaterial({ size: 3 * Math.min(devicePixelRatio, 2), sizeAttenuation: false, vertexColors: true }),
    ),
  );
  const last = s.x.length - 1;
  const ends = [at(s, 0, middle), at(s, last, middle)];
  out.add(dots(ends, [new Color(look.start), new Color(look.end)], 9));
  tags.add(labels.start, ends[0]!, look.start);
  tags.add(labels.end, ends[1]!, look.end);
  if (!s.turns) return out;
  const arm = extent(s).radius / 14;
  const from: Vector3[] = [];
  const paints: Color[] = [];
  const step = Math.max(1, Math.ceil(last / triads));
  for (let i = 0; i <= last; i += step) {
    const q = new Quaternion(s.turns.x[i] ?? 0, s.turns.y[i] ?? 0, s.turns.z[i] ?? 0, s.turns.w[i] ?? 1);
    const foot = at(s, i, middle);
    for (const [k, axis] of [new Vector3(arm, 0, 0), new Vector3(0, arm, 0), new Vector3(0, 0, arm)].entries()) {
      const c = new Color(look.axes[k as 0 | 1 | 2]);
      from.push(foot, foot.clone().add(axis.applyQuaternion(q)));
      paints.push(c, c);
    }
  }
  out.add(strokes(from, paints));
  return out;
}

function strokes(ends: Vector3[], paints: Color[]): LineSegments {
  const g = new BufferGeometry().setFromPoints(ends);
  g.setAttribute("color", new BufferAttribute(new Float32Array(paints.flatMap((c) => c.toArray())), 3));
  return new LineSegments(g, new LineBasicMaterial({ vertexColors: true }));
}

/** The grid on z = 0 and the frame's axes at its origin; beneath the data where the origin is far away. */
function floor(size: Extent, look: Look, tags: Tags, labels: Labels, onGrid: (side: number) => void): Object3D {
  const { middle, low, high, radius } = size;
  const side = stepBelow(radius / 3);
  const far = Math.hypot(...middle) > radius * 4;
  const level = far ? low[2] : 0;
  const reach = (k: 0 | 1): [number, number] => {
    const [a, b] = far ? [low[k], high[k]] : [Math.min(low[k], 0), Math.max(high[k], 0)];
    return [Math.floor(a / side - 0.5) * side, Math.ceil(b / side + 0.5) * side];
  };
  const [[x0, x1], [y0, y1]] = [reach(0), reach(1)];
  const foot = (x: number, y: number, z: number) => new Vector3(x - middle[0], y - middle[1], z - middle[2]);
  const ends: Vector3[] = [];
  for (let i = 0; i <= Math.round((x1 - x0) / side); i++)
    ends.push(foot(x0 + i * side, y0, level), foot(x0 + i * side, y1, level));
  for (let i = 0; i <= Math.round((y1 - y0) / side); i++)
    ends.push(foot(x0, y0 + i * side, level), foot(x1, y0 + i * side, level));
  const line = new Color(look.line);
  const out = new Group();
  out.add(
    strokes(
      ends,
      ends.map(() => line),
    ),
  );
  const origin = far ? foot(x0, y0, level) : foot(0, 0, 0);
  const arms = [new Vector3(side * 1.5, 0, 0), new Vector3(0, side * 1.5, 0), new Vector3(0, 0, side * 1.5)].map((v) =>
    v.add(origin),
  );
  const paints = look.axes.map((c) => new Color(c));
  out.add(
    strokes(
      arms.flatMap((end) => [origin, end]),
      paints.flatMap((c) => [c, c]),
    ),
  );
  arms.forEach((end, k) => tags.add([labels.x, labels.y, labels.z][k]!, end, look.axes[k as 0 | 1 | 2]));
  onGrid(side);
  return out;
}

function discard(scene: Scene, what: Object3D): void {
  scene.remove(what);
  what.traverse((part) => {
    const { geometry, material } = part as { geometry?: BufferGeometry; material?: Material };
    geometry?.dispose();
    material?.dispose();
  });
}
