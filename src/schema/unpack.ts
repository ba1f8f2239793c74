import { brotliDecompressSync } from 'node:zlib'

/** The JSON of a committed table, which is packed as base64 of Brotli. Ask at the first question: a start must not pay for it. */
export const unpack = <T>(packed: string): T =>
  JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString()) as T
