// What a PNG says of itself: its size, whether its pixels must be unpacked to be put into a PDF, and their packed data.

export type Png = {
  readonly width: number
  readonly height: number
  /** With transparency or interlaced: a PDF holds it in another form. All others go into the file as they are. */
  readonly isUnpacked: boolean
  /** Bytes of the pixels when unpacked, with the filter that each row begins with. */
  readonly unpackedBytes: number
  readonly data: Buffer
}

/** Samples of a pixel by colour type. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }

/** Undefined for a file that breaks off or says what no PNG may say. */
export function readPng(bytes: Buffer): Png | undefined {
  const data: Buffer[] = []
  let [width, height, bits, colourType, interlaced] = [0, 0, 0, 0, 0]
  let isTransparent = false
  for (let at = 8; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const body = bytes.subarray(at + 8, at + 8 + length)
    if (body.length < length) return undefined
    if (type === 'IHDR' && length >= 13) {
      width = body.readUInt32BE(0)
      height = body.readUInt32BE(4)
      bits = body[8]!
      colourType = body[9]!
      interlaced = body[12]!
    } else if (type === 'tRNS') isTransparent = colourType === 3
    else if (type === 'IDAT') data.push(body)
    else if (type === 'IEND') {
      const samples = SAMPLES[colourType]
      if (
        samples === undefined ||
        ![1, 2, 4, 8, 16].includes(bits) ||
        width < 1 ||
        height < 1 ||
        data.length === 0
      )
        return undefined
      const ofPixel = bits * samples
      return {
        width,
        height,
        isUnpacked: colourType === 4 || colourType === 6 || isTransparent || interlaced === 1,
        unpackedBytes:
          interlaced === 1 ? interlacedBytes(width, height, ofPixel) : rowsBytes(width, height, ofPixel),
        data: Buffer.concat(data),
      }
    }
    at += 12 + length
  }
  return undefined
}

const rowsBytes = (width: number, height: number, bitsOfPixel: number): number =>
  width === 0 ? 0 : height * (1 + Math.ceil((width * bitsOfPixel) / 8))

/** Where each of the seven passes begins and how far its pixels lie apart: across, down. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const

const interlacedBytes = (width: number, height: number, bitsOfPixel: number): number =>
  PASSES.reduce(
    (sum, [left, top, across, down]) =>
      sum +
      rowsBytes(
        Math.max(0, Math.ceil((width - left) / across)),
        Math.max(0, Math.ceil((height - top) / down)),
        bitsOfPixel,
      ),
    0,
  )
