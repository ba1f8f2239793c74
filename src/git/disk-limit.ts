import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessGone } from '../base/errors.ts'

/** After a pass so much of the limit is used, so that not every write begins another one. */
const KEPT_SHARE = 0.8
/** Between two passes at most so much of the limit is written. */
const PASS_SHARE = 0.1
/** What was just written is read next. */
const SPARED_MS = 60_000
/** What a file occupies beyond its content. */
const BLOCK = 4_096

interface StoredFile {
  readonly path: string
  readonly bytes: number
  readonly usedAt: number
}

/**
 * Keeps a folder below a limit: the files that were used least recently are deleted, by the times of the
 * file system, which notes a read once a day (`relatime`) or never (`noatime`). Several processes may
 * share the folder; each counts what it wrote itself, and a pass counts everything.
 */
export class DiskLimit {
  readonly #dir: string
  readonly #maxBytes: number
  /** Written since the last pass; a process does not know what an earlier one left. */
  #written = Number.POSITIVE_INFINITY
  #pass: Promise<void> | undefined

  constructor(dir: string, maxBytes: number) {
    this.#dir = dir
    this.#maxBytes = maxBytes
  }

  /** Notes what was written, and begins a pass when it may exceed the limit. Resolves when no pass runs. */
  async wrote(bytes: number): Promise<void> {
    this.#written += bytes + BLOCK
    if (this.#written < this.#maxBytes * PASS_SHARE) return
    this.#pass ??= this.#clean().finally(() => {
      this.#pass = undefined
    })
    await this.#pass
  }

  async #clean(): Promise<void> {
    this.#written = 0
    const files = await filesIn(this.#dir)
    let used = files.reduce((sum, { bytes }) => sum + bytes, 0)
    if (used <= this.#maxBytes * (1 - PASS_SHARE)) return
    const until = Date.now() - SPARED_MS
    for (const { path, bytes } of files.filter(({ usedAt }) => usedAt < until).sort((a, b) => a.usedAt - b.usedAt)) {
      if (used <= this.#maxBytes * KEPT_SHARE) return
      await rm(path, { force: true })
      used -= bytes
    }
  }
}

async function filesIn(dir: string): Promise<StoredFile[]> {
  const entries = (await unlessGone(readdir(dir, { withFileTypes: true }))) ?? []
  const files: StoredFile[] = []
  for (const entry of entries) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) files.push(...(await filesIn(path)))
    else {
      // another process may have deleted it
      const found = await unlessGone(stat(path))
      if (found)
        files.push({
          path,
          bytes: Math.ceil(found.size / BLOCK) * BLOCK,
          usedAt: Math.max(found.atimeMs, found.mtimeMs),
        })
    }
  }
  return files
}
