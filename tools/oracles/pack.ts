import { brotliCompressSync, constants } from 'node:zlib'

/** As src/schema/types-table.ts reads it. */
export function pack(data: unknown): string {
  const text = JSON.stringify(data)
  return brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  }).toString('base64')
}
