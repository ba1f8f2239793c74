import { main } from './main.ts'
import { openProgressThread } from './open-progress-thread.ts'
import { terminalIo } from './terminal-io.ts'

// `bailiwick check | head` ends our output early; that is the reader's choice, not an error
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const progress = process.stderr.isTTY ? openProgressThread() : undefined
let interrupt: AbortController | undefined

/** Called only by commands that handle Ctrl-C: a handler would delay it until the evaluation ends, and other commands must exit (130) at once. */
function interrupted(): AbortSignal {
  if (!interrupt) {
    interrupt = new AbortController()
    process.once('SIGINT', () => interrupt?.abort())
  }
  return interrupt.signal
}

process.exitCode = await main(process.argv.slice(2), {
  stdout(text) {
    progress?.clear()
    process.stdout.write(text)
  },
  stderr(text) {
    progress?.clear()
    process.stderr.write(text)
  },
  stdin: process.stdin,
  cwd: process.cwd(),
  ...terminalIo(process.env, process.stdout.isTTY === true, process.stdout.columns),
  ...(progress ? { progress: progress.stage } : {}),
  interrupted,
})
progress?.end()
