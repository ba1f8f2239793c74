import { BailiwickError } from '../../errors.ts'
import { through } from '../../kube/edit-node.ts'
import type { MapNode, ScalarNode } from '../../kube/node.ts'
import type { Origin, Step } from '../../kube/origin.ts'
import { type ParsedFile, parseText } from '../../kube/parse-documents.ts'
import { loadObjects } from '../resource/load-resources.ts'
import type { Operation } from './json-patch.ts'
import { readJsonPatch } from './read-json-patch.ts'

export type Patch =
  | { readonly type: 'merge'; readonly objects: readonly MapNode[] }
  | { readonly type: 'json'; readonly operations: readonly Operation[] }

/** Tells a strategic merge patch from a JSON6902 one as kustomize does; every value says that it came through `step`. */
export function readPatchFile(file: ParsedFile, step: Step): Patch {
  const [first, second] = file.documents
  if (first?.type !== 'list') {
    const objects = loadObjects(file).map(object => through(object, step) as MapNode)
    return { type: 'merge', objects }
  }
  if (second) {
    const message = 'a JSON6902 patch is one document'
    throw new BailiwickError('kustomize-unsupported', message, { origin: second.origin })
  }
  if (file.text.startsWith('[')) checkJson(file.text, first.origin)
  return { type: 'json', operations: readJsonPatch(through(first, step) as typeof first) }
}

/** Text that starts with `[` is read as JSON, not as YAML. */
function checkJson(text: string, origin: Origin): void {
  try {
    JSON.parse(text)
  } catch {
    const message = 'a patch that starts with [ must be JSON'
    throw new BailiwickError('kustomize-invalid', message, { origin })
  }
}

/**
 * Parses a patch that stands inside another file. kustomize trims it first. Lines of a literal block (`patch: |`) keep
 * their own line and column; other styles point at the start of the text.
 */
export function parseInline(node: ScalarNode): ParsedFile {
  const text = String(node.value)
  const trimmed = trimLikeGo(text)
  const skipped = text.slice(0, text.indexOf(trimmed)).split('\n').length - 1
  const { origin } = node
  if (node.style !== 'literal') return parseText(trimmed, () => origin)
  const indent = node.indent ?? 0
  return parseText(trimmed, (line, column) => ({
    ...origin,
    line: origin.line + skipped + line,
    column: column + indent,
  }))
}

function trimLikeGo(text: string): string {
  return text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, '')
}
