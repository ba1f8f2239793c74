import type { IncomingMessage } from 'node:http'
import { HttpError } from './http-error.ts'

const MOST_BYTES = 100 * 1024 * 1024

/** All bytes of a request. Throws 413 above GitHub's limit of a blob, 100 MB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MOST_BYTES) throw new HttpError(413, 'Payload too big')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The JSON of a body; none is none, also where one could be: Octokit sends none when it has nothing to say. Throws 400. */
export function parseBody(raw: Buffer, type = ''): unknown {
  if (raw.length === 0) return undefined
  if (type.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(raw.toString()))
  try {
    return JSON.parse(raw.toString())
  } catch {
    throw new HttpError(400, 'Problems parsing JSON')
  }
}
