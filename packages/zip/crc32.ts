const TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1
  return value
})

/** Computes the CRC-32 of zip files. `earlier` is the checksum of the preceding bytes. */
export function crc32(bytes: Uint8Array, earlier = 0): number {
  let crc = ~earlier
  for (let index = 0; index < bytes.byteLength; index += 1)
    crc = (crc >>> 8) ^ TABLE[(crc ^ bytes[index]!) & 0xff]!
  return ~crc >>> 0
}
