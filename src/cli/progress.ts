import { visible } from '../message/visible.ts'

/** What takes no longer needs no line. */
const AFTER_MS = 1000
/** Erases the line, and goes to its begin. */
const ERASE = '\r\u001b[2K'

/** A line on a terminal that says what takes long, until something else is written. */
interface ProgressLine {
  stage(text: string): void
  /** Erases the line. */
  clear(): void
  end(): void
}

/** Writes the stage and the seconds on one line of a terminal, from one second after the start on. `now` in milliseconds. */
export function openProgress(write: (text: string) => void, now: () => number): ProgressLine {
  const begin = now()
  let stage = ''
  let isShown = false
  const show = (): void => {
    const seconds = Math.floor((now() - begin) / 1000)
    if (stage === '' || seconds * 1000 < AFTER_MS) return
    isShown = true
    write(`${ERASE}${visible(stage, 60)} (${seconds} s)`)
  }
  const clear = (): void => {
    if (isShown) write(ERASE)
    isShown = false
  }
  const timer = setInterval(show, AFTER_MS)
  // a line about what runs must not keep it running
  timer.unref()
  return {
    stage(text) {
      stage = text
      show()
    },
    clear,
    end() {
      clearInterval(timer)
      clear()
    },
  }
}
