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

# What a camera held on its side writes: stored turned, to be turned back.
undo = {2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE, 8: Image.Transpose.ROTATE_270}
for tag, way in undo.items():
    exif = Image.Exif()
    exif[0x0112] = tag
    scene.transpose(way).save(f"turned{tag}.jpg", quality=90, exif=exif)

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
soundfile.write("pcm_16.flac", tone, 8000, subtype="PCM_16")
soundfile.write("pcm_24.flac", stereo, 8000, subtype="PCM_24")
long = 0.5 * np.sin(2 * np.pi * 440 * np.arange(16000) / 8000)
soundfile.write("frames.flac", long, 8000, subtype="PCM_16")
soundfile.write("pcm_s8.flac", tone, 8000, subtype="PCM_S8")

# A minute of eight channels in a few kilobytes: half of it at a quarter of full
# scale, then nothing.
steady = np.zeros((60 * 48000, 8))
steady[: 30 * 48000] = 0.25
soundfile.write("long.flac", steady, 48000, subtype="PCM_16")
