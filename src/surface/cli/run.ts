import { visible } from '../../base/visible.ts'
import { main } from './main.ts'
import { terminalIo } from './terminal.ts'

// `bailiwick check | head` ends our output early; that is the reader's choice, not an error
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

/** Moves to the start of the line and erases it. */
const ERASE = '\r\u001b[2K'
let isShown = false

/** Shows the stage of a long step on one line, until something else is written. */
function progress(stage: string): void {
  process.stderr.write(`${ERASE}${visible(stage, 60)}`)
  isShown = true
}

function clear(): void {
  if (isShown) process.stderr.write(ERASE)
  isShown = false
}

process.exitCode = await main(process.argv.slice(2), {
  stdout(text) {
    clear()
    process.stdout.write(text)
  },
  stderr(text) {
    clear()
    process.stderr.write(text)
  },
  stdin: process.stdin,
  cwd: process.cwd(),
  ...terminalIo(process.env, process.stdout.isTTY === true, process.stdout.columns),
  ...(process.stderr.isTTY ? { progress } : {}),
})
clear()
