import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { type Header, pack } from 'tar-stream'

/** A tar archive with gzip of entries as they are given, hostile ones included; the same entries give the same bytes. */
export async function archiveOf(
  entries: readonly (Partial<Header> & { name: string; content?: string })[],
): Promise<Buffer> {
  const archive = pack()
  for (const { content = '', ...header } of entries) archive.entry({ mtime: new Date(0), ...header }, content)
  archive.finalize()
  return gzipSync(await buffer(archive))
}
