import { BailiwickError } from '../../errors.ts'
import type { Position } from './yaml-budget.ts'

const SEPARATOR = /^---(?:[ \t]+(?:#.*)?)?\r?$/
const END_MARKER = /^\.\.\.(?:[ \t\r]|$)/
const NOTHING = /^[ \t]*(?:#.*)?\r?$/

/**
 * Refuses document boundaries on which programs disagree (`yaml-ambiguous`): kustomize cuts a file at lines that start
 * with `---` before any YAML parser sees it, and reads only the first document of each piece.
 */
export function checkDocuments(text: string, position: Position): void {
  const refuse = (what: string, offset: number): never => {
    const origin = position(lineOf(text, offset), 1)
    const message = `${origin.file} has ${what}; kustomize and other YAML readers disagree on what it means`
    const fix = 'Start each document with a line of its own: ---'
    throw new BailiwickError('yaml-ambiguous', message, { origin, rule: 'yaml-ambiguous', fix })
  }
  for (const start of linesThatStart(text, '%')) refuse('a YAML directive', start)
  for (const start of linesThatStart(text, '---')) {
    const line = lineAt(text, start)
    // kustomize cuts at the line breaks before separators, so what stands behind a first one stays with its document
    const first = start === 0 && /^---[ \t]/.test(line)
    if (!first && !SEPARATOR.test(line)) refuse('content on the line of a document separator', start)
  }
  let checked = 0
  for (const start of linesThatStart(text, '...')) {
    if (start < checked || !END_MARKER.test(lineAt(text, start))) continue
    checked = checkEnded(text, start, refuse)
  }
}

/** Between an end marker and the next separator there is nothing; where that separator stands. */
function checkEnded(text: string, marker: number, refuse: (what: string, offset: number) => never): number {
  let start = nextLine(text, marker)
  while (start < text.length && !text.startsWith('---', start)) {
    const line = lineAt(text, start)
    if (!NOTHING.test(line)) refuse('content after a document end marker (...)', start)
    start = nextLine(text, start)
  }
  return start
}

/** Offsets of the lines that start with `mark`. */
function* linesThatStart(text: string, mark: string): Generator<number> {
  if (text.startsWith(mark)) yield 0
  for (let at = text.indexOf(`\n${mark}`); at >= 0; at = text.indexOf(`\n${mark}`, at + 1)) yield at + 1
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
