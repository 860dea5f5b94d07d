// Line icons on a 24 x 24 grid, in the colour of the text around them.

const paths = {
  home: "M4 11.5 12 5l8 6.5M6 10v9h4.5v-5h3v5H18v-9",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20",
  perceptions: "M3 12h3l2-6 3.5 13L15 8l2 4h4",
  sessions: "M4 7h10M4 12h16M4 17h7M17 5v4M14 15v4",
  map: "M12 21s6.5-5.6 6.5-10.5a6.5 6.5 0 1 0-13 0C5.500 15.400 12 21 12 21Zm0-8.300a2.300 2.300 0 1 0 0-4.600 2.300 2.300 0 0 0 0 4.600Z",
  doctor: "M9 4v4a4 4 0 0 1-4 4v0m4-8h6v4a4 4 0 0 0 4 4M12 12v3.500a4.500 4.500 0 0 0 9 0V15M12 12h-1",
  check: "m5 12.500 4.500 4.500L19 7.500",
  cross: "M6.500 6.500l11 11m0-11-11 11",
  pin: "M9 4h6l-.8 6 2.800 3H7l2.800-3L9 4Zm3 9v7",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  download: "M12 4v11m-4.500-4.500L12 15l4.500-4.500M5 20h14",
  upload: "M12 15V4m-4.500 4.500L12 4l4.500 4.500M5 20h14",
  back: "M15 5l-7 7 7 7",
  forward: "M9 5l7 7-7 7",
  down: "m6 9 6 6 6-6",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.600 5.600l1.400 1.400m10 10 1.400 1.400m0-12.800L17 7M7 17l-1.400 1.400",
  moon: "M19.500 14.500A8 8 0 0 1 9.500 4.500a8 8 0 1 0 10 10Z",
  auto: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-16v16",
  warn: "M12 4 2.800 20h18.400L12 4Zm0 6v5m0 2.600v.1",
  info: "M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-9v5m0-8v.1",
  trash: "M5 7h14M9 7V4.500h6V7m-8 0 1 13h8l1-13",
  edit: "M5 19l.8-3.800L15.500 5.500l3 3-9.700 9.700L5 19Z",
  undo: "M5 9h9a5 5 0 0 1 0 10H9M5 9l4-4M5 9l4 4",
  fact: "M6 4h12v16H6zM9 8.500h6M9 12h6M9 15.500h3.500",
  image: "M4 5h16v14H4zM4 16l4.500-4.500 4 4 2.500-2.500 5 5M15.500 9h.01",
  sound: "M5 10v4m3.500-7v10M12 5v14m3.500-11v8M19 10.500v3",
  cube: "M12 3.500 19.500 8v8L12 20.500 4.500 16V8L12 3.500Zm0 8.500 7.500-4M12 12v8.500M12 12 4.500 8",
  path: "M5 18c4 0 3-9 7-9s3 4 7-3M5 18h.01M19 6h.01",
  bytes: "M8 5H5v14h3M16 5h3v14h-3M10 9h.01M14 9h.01M10 15h.01M14 15h.01",
  zoom: "M10.500 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13Zm4.800-1.700L20 20M8 10.500h5m-2.500-2.500v5",
  filter: "M4 6h16l-6.200 7v6l-3.600-2v-4L4 6Z",
  play: "M8 5.500v13l10.500-6.500L8 5.500Z",
  pause: "M8.500 5.500v13M15.500 5.500v13",
  menu: "M4 7h16M4 12h16M4 17h16",
  keyboard: "M3 7h18v10H3zM7 10.500h.01M11 10.500h.01M15 10.500h.01M8 14h8",
  language: "M4 6h9M8.500 4v2c0 4-2 7-4.500 8.500M6 9c.8 2.500 2.800 4.500 5.500 5.500M12 20l4-10 4 10m-6.700-3h5.400",
  same: "M5 9h14M5 15h14",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
