import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputChunk } from 'rolldown'
import { bundle } from '../../../build/bundle.ts'

export interface Built {
  /** What the image holds: dist. */
  readonly folder: string
  /** By their file names in dist. */
  readonly chunks: ReadonlyMap<string, OutputChunk>
}

let build: Promise<Built> | undefined

/** The bundle, built once for all tests of a process. */
export function built(): Promise<Built> {
  build ??= buildOnce()
  return build
}

async function buildOnce(): Promise<Built> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-built-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const dist = join(folder, 'dist')
  const chunks = await bundle(dist)
  return { folder, chunks: new Map(chunks.map(chunk => [chunk.fileName, chunk])) }
}
