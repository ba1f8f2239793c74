import { BailiwickError } from '../errors.ts'
import type { Origin } from './origin.ts'

/**
 * Refuses document boundaries on which programs disagree: kustomize cuts a file at lines that start with `---` before
 * any YAML parser sees it, and reads only the first document of each piece. `at` gives the origin of a line.
 */
export function checkDocuments(text: string, at: (line: number) => Origin): void {
  const lines = text.split('\n')
  let ended = false
  for (const [index, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (line.startsWith('---')) {
      ended = false
      // kustomize cuts at the line breaks before separators, so what stands behind a first one stays with its document
      const first = index === 0 && /^---[ \t]/.test(line)
      if (!first && !/^---(?:[ \t]+(?:#.*)?)?$/.test(line))
        refuse('content on the line of a document separator', at(index + 1))
    } else if (ended && !/^[ \t]*(?:#.*)?$/.test(line))
      refuse('content after a document end marker (...)', at(index + 1))
    else if (/^\.\.\.(?:[ \t]|$)/.test(line)) ended = true
    else if (line.startsWith('%')) refuse('a YAML directive', at(index + 1))
  }
}

function refuse(what: string, origin: Origin): never {
  const message = `${origin.file} has ${what}; kustomize and other YAML readers disagree on what it means`
  throw new BailiwickError('yaml-ambiguous', message, {
    origin,
    fix: 'Start each document with a line of its own: ---',
  })
}
