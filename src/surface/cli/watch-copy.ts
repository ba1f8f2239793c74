import { watch } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { BailiwickError } from '../../base/errors.ts'
import type { CheckOptions } from './check-options.ts'
import type { Io } from './command.ts'
import { errorLine } from './terminal.ts'
import { rootFolder } from './working-copy.ts'

/** Groups the saves of several files, or a checkout, into one change. */
const QUIET_MS = 150
/** Exit code of an interrupted program: 128 + SIGINT. */
const INTERRUPTED = 130

/**
 * Evaluates once and again after each change in the folders that the verdict reads, until Ctrl-C. If an evaluation fails, prints the
 * error and waits for the next change. Resolves to 130, the exit code of an interrupted program.
 */
export async function watchCopy(options: CheckOptions, io: Io, evaluate: () => Promise<number>): Promise<number> {
  const signal = io.interrupted?.() ?? new AbortController().signal
  const folders = await watchedFolders(options)
  const changes = changesIn(folders, signal)
  // watching starts before the first evaluation so that no change is missed
  for (let next = Promise.resolve(true); await next; next = changes.next()) {
    changes.forget()
    if (options.output === 'text') io.stdout('checking\n')
    await evaluate().catch(error => {
      if (!(error instanceof BailiwickError)) throw error
      io.stderr(`${errorLine(error)}\n`)
    })
  }
  return INTERRUPTED
}

async function watchedFolders({ dir, base, url, fleet, reposDir, repositories }: CheckOptions): Promise<string[]> {
  const own = await rootFolder(dir, { base, url, isTenant: fleet !== undefined })
  const others = [fleet, reposDir, ...repositories.map(one => one.dir)].filter(one => one !== undefined)
  return [...new Set([own, ...others])]
}

interface Changes {
  /** Resolves to true once a change has settled, and to false on Ctrl-C. */
  next(): Promise<boolean>
  /** Discards pending changes because the next evaluation reads them. */
  forget(): void
}

function changesIn(folders: readonly string[], signal: AbortSignal): Changes {
  let isChanged = false
  let wake = () => {}
  const noted = () => {
    isChanged = true
    wake()
  }
  signal.addEventListener('abort', () => wake())
  for (const folder of folders) void follow(folder, signal, noted)
  const next = async (): Promise<boolean> => {
    while (!signal.aborted) {
      if (isChanged) {
        isChanged = false
        await new Promise<void>(done => setTimeout(done, QUIET_MS))
        if (!isChanged) return !signal.aborted
      } else
        await new Promise<void>(done => {
          wake = done
        })
    }
    return false
  }
  return {
    next,
    forget() {
      isChanged = false
    },
  }
}

async function follow(folder: string, signal: AbortSignal, noted: () => void): Promise<void> {
  try {
    for await (const { filename } of watch(folder, { recursive: true, signal })) {
      if (filename === null || isContent(relative(folder, `${folder}${sep}${filename}`))) noted()
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** In `.git`, only the files that record what is checked out are relevant. */
function isContent(path: string): boolean {
  const [top, ...rest] = path.split(sep)
  return top !== '.git' || rest.join('/') === 'HEAD' || rest.join('/') === 'index'
}
