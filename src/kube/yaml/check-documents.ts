import { BailiwickError } from '../../errors.ts'
import type { Position } from './yaml-budget.ts'

type Refuse = (what: string, offset: number) => never

const PERCENT = 37
const DASH = 45
const DOT = 46
const SEPARATOR = /^---(?:[ \t]+(?:#.*)?)?\r?$/
const END_MARKER = /^\.\.\.(?:[ \t\r]|$)/
const NOTHING = /^[ \t]*(?:#.*)?\r?$/

/**
 * Into how many pieces kustomize cuts a text: at lines that start with `---`, before any YAML parser sees it, and then it
 * reads only the first document of each. Throws `yaml-ambiguous` for boundaries on which other programs disagree with it.
 */
export function checkDocuments(text: string, position: Position): number {
  const refuse = (what: string, offset: number): never => {
    const origin = position(lineOf(text, offset), 1)
    const message = `${origin.file}: contains ${what}. kustomize and other YAML parsers read it differently`
    const fix = 'Start each document with `---` on its own line.'
    throw new BailiwickError('yaml-ambiguous', message, { origin, fix })
  }
  let pieces = 1
  let cut = 0
  let ended = 0
  for (let start = 0, feed = 0; feed >= 0; start = feed + 1) {
    feed = text.indexOf('\n', start)
    const code = text.charCodeAt(start)
    if (code === PERCENT) refuse('a YAML directive', start)
    else if (code === DASH && text.startsWith('---', start)) {
      checkSeparator(text, start, refuse)
      // a cut takes the line breaks on both sides, so that there is none right behind it
      if (start > cut && feed >= 0) {
        pieces++
        cut = feed + 1
      }
    } else if (code === DOT && start >= ended && END_MARKER.test(lineAt(text, start))) {
      ended = checkEnded(text, start, refuse)
    }
  }
  return pieces
}

function checkSeparator(text: string, start: number, refuse: Refuse): void {
  const line = lineAt(text, start)
  // kustomize cuts at the line breaks before separators, so what stands behind a first one stays with its document
  if (start === 0 && /^---[ \t]/.test(line)) return
  if (!SEPARATOR.test(line)) refuse('content on the line of a document separator', start)
}

/** Between an end marker and the next separator there is nothing; where that separator stands. */
function checkEnded(text: string, marker: number, refuse: Refuse): number {
  let start = nextLine(text, marker)
  while (start < text.length && !text.startsWith('---', start)) {
    const line = lineAt(text, start)
    if (!NOTHING.test(line)) refuse('content after a document end marker (...)', start)
    start = nextLine(text, start)
  }
  return start
}

function nextLine(text: string, offset: number): number {
  const feed = text.indexOf('\n', offset)
  return feed < 0 ? text.length : feed + 1
}

function lineAt(text: string, offset: number): string {
  const feed = text.indexOf('\n', offset)
  return text.slice(offset, feed < 0 ? text.length : feed)
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length
}
