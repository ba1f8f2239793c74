import { redactLines } from '../message/redact.ts'
import { visible } from '../message/visible.ts'
import { align } from './align.ts'
import type { SecretWords } from './secret-words.ts'

const MAX_LINES = 40
const MAX_WIDTH = 160
const CONTEXT = 1

/**
 * Two texts of several lines as the lines that differ, each behind `+` or `-`, with the line before and behind them, at most
 * 40; undefined where neither has several. No line holds a credential: that such a line changed is all that is told.
 */
export function lineChanges(
  was: string | undefined,
  now: string | undefined,
  words: SecretWords,
): string[] | undefined {
  if (was === undefined || now === undefined || !/\n(?!$)/.test(was + now)) return undefined
  const [raw, rawNow] = [split(was), split(now)]
  const [before, after] = [shown(raw, words), shown(rawNow, words)]
  const { same } = align(before, after)
  const out: { mark: string; text: string }[] = []
  let [i, j] = [0, 0]
  for (const [nextI, nextJ] of [...same, [before.length, after.length] as const]) {
    while (i < nextI) out.push({ mark: '-', text: before[i++]! })
    while (j < nextJ) out.push({ mark: '+', text: after[j++]! })
    if (nextI < before.length && nextJ < after.length) out.push({ mark: ' ', text: before[nextI]! })
    ;[i, j] = [nextI + 1, nextJ + 1]
  }
  const near = (at: number) => out.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ mark }) => mark !== ' ')
  const nearby = out.filter((_, at) => near(at)).map(({ mark, text }) => `${mark} ${text}`)
  const isHidden = same.some(([at, other]) => raw[at] !== rawNow[other])
  if (isHidden) nearby.push('! further lines, not shown')
  const left = nearby.length - MAX_LINES
  return left > 0 ? [...nearby.slice(0, MAX_LINES), `  … and ${left} more lines`] : nearby
}

function split(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const shown = (lines: readonly string[], words: SecretWords): string[] =>
  redactLines(lines.map(line => words.withoutHashes(line))).map(line => visible(line, MAX_WIDTH))
