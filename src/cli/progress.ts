import { visible } from '../message/visible.ts'

/** Shorter work shows no line. */
const AFTER_MS = 1000
/** Moves to the start of the line and erases it. */
export const ERASE = '\r\u001b[2K'

/** A terminal line that shows the current stage until other output is written. */
export interface ProgressLine {
  stage(text: string): void
  /** Erases the line; nothing is shown until the next stage. */
  clear(): void
  end(): void
}

/** Shows stage and seconds on one terminal line, starting one second after the first stage. `now` returns milliseconds. */
export function openProgress(write: (text: string) => void, now: () => number): ProgressLine {
  let begin = 0
  let stage = ''
  let isShown = false
  const show = (): void => {
    const seconds = Math.floor((now() - begin) / 1000)
    if (stage === '' || seconds * 1000 < AFTER_MS) return
    isShown = true
    write(`${ERASE}${visible(stage, 60)} (${seconds} s)`)
  }
  const clear = (): void => {
    stage = ''
    if (isShown) write(ERASE)
    isShown = false
  }
  const timer = setInterval(show, AFTER_MS)
  // the progress line must not keep the process alive
  timer.unref()
  return {
    stage(text) {
      if (stage === '') begin = now()
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
