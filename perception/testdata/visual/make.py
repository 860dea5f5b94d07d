"""Writes the files of this folder with encoders other than Go's.

    pip install numpy pillow soundfile && python make.py

Each picture is 48x32: red grows to the right, blue downwards, and the upper left
quarter is green. Each sound is half a second of a 440 Hz sine at half of full
scale, in stereo with silence to the right.
"""
import numpy as np
import soundfile
from PIL import Image

y, x = np.mgrid[0:32, 0:48]
rgb = np.stack([x * 255 // 47, np.where((x < 24) & (y < 16), 200, 0), y * 255 // 31], axis=-1).astype(np.uint8)
scene = Image.fromarray(rgb)
scene.save("lossy.webp", quality=90)
scene.save("lossless.webp", lossless=True)
alpha = scene.copy()
alpha.putalpha(Image.fromarray(np.where(x < 24, 0, 255).astype(np.uint8)))
alpha.save("alpha.webp", quality=90)
frames = [scene, scene.transpose(Image.Transpose.FLIP_LEFT_RIGHT)]
frames[0].save("animated.webp", save_all=True, append_images=frames[1:], duration=100)
scene.save("plain.png")
scene.save("progressive.jpg", quality=90, progressive=True)
scene.convert("CMYK").save("cmyk.jpg", quality=90)

depth = (1000 + 20 * x).astype(np.uint16)
depth[:8] = 0
Image.fromarray(depth).save("depth.png")
np.save("depth.npy", np.where(depth == 0, np.nan, depth / 1000).astype(np.float32))
np.save("colour.npy", rgb)

t = np.arange(4000) / 8000
tone = 0.5 * np.sin(2 * np.pi * 440 * t)
stereo = np.stack([tone, 0 * tone], axis=-1)
for subtype in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"):
    soundfile.write(f"{subtype.lower()}.wav", tone[:800], 8000, subtype=subtype)
soundfile.write("extensible.wav", stereo[:800], 8000, subtype="PCM_24", format="WAVEX")
soundfile.write("ulaw.wav", tone[:800], 8000, subtype="ULAW")
