import { BailiwickError } from '../../errors.ts'
import { isEmpty, through } from '../../kube/edit-node.ts'
import type { MapNode, ScalarNode } from '../../kube/node.ts'
import { type ParsedFile, parseText } from '../../kube/yaml/parse-documents.ts'
import type { Origin, Step } from '../../origin.ts'
import { loadObjects } from '../resource/load-resources.ts'
import { type JsonPatchOperation, readJsonPatch } from './read-json-patch.ts'

export type Patch =
  | { readonly type: 'merge'; readonly objects: readonly MapNode[] }
  | { readonly type: 'json'; readonly operations: readonly JsonPatchOperation[] }

/** Tells a strategic merge patch from a JSON6902 one as kustomize does; every value says that it came through `step`. */
export function readPatchFile(file: ParsedFile, step: Step): Patch {
  const first = file.documents.find(document => !isEmpty(document))
  if (first?.type !== 'list') {
    const objects = loadObjects(file).map(object => through(object, step) as MapNode)
    return { type: 'merge', objects }
  }
  return { type: 'json', operations: readOperations(file, step) }
}

/**
 * The operations of a text that has to be a JSON6902 patch: its first document, whatever comes after it. Throws
 * `kustomize-invalid` for anything else.
 */
export function readOperations(file: ParsedFile, step: Step): JsonPatchOperation[] {
  const [first] = file.documents
  if (first?.type !== 'list') {
    const message = 'patch: a JSON6902 patch is not a list of operations'
    throw new BailiwickError('kustomize-invalid', message, { origin: first?.origin ?? { ...START, ...step } })
  }
  if (/^(?:---.*\n\s*(?:#.*\n\s*)*){2}/.test(file.text.replace(/^(?:\s*#.*\n|\s*\n)+/, ''))) {
    const message = 'patch: a JSON6902 patch after an empty document, which kustomize ignores'
    throw new BailiwickError('kustomize-unsupported', message, { origin: first.origin })
  }
  const json = file.text.startsWith('[')
  if (json) checkJson(file.text, first.origin)
  return readJsonPatch(through(first, step) as typeof first, json)
}

const START = { repository: '', column: 1 }

/** Text that starts with `[` is read as JSON, not as YAML. */
function checkJson(text: string, origin: Origin): void {
  try {
    JSON.parse(text)
  } catch {
    const message = 'patch: starts with [, but is not valid JSON'
    throw new BailiwickError('kustomize-invalid', message, { origin })
  }
}

/** Parses a patch that stands inside another file, of which kustomize forgets the space around it. */
export function parseInline(node: ScalarNode): ParsedFile {
  return parseFrom(node, trimLikeGo(String(node.value)))
}

/** The same for one that is taken as it stands. */
export function parseWhole(node: ScalarNode): ParsedFile {
  return parseFrom(node, String(node.value))
}

/** Lines of a literal block (`patch: |`) keep their own line and column; other styles point at the start of the text. */
function parseFrom(node: ScalarNode, text: string): ParsedFile {
  const { origin } = node
  if (node.style !== 'literal') return parseText(text, () => origin)
  const whole = String(node.value)
  const skipped = whole.slice(0, whole.indexOf(text)).split('\n').length - 1
  const indent = node.indent ?? 0
  return parseText(text, (line, column) => ({ ...origin, line: origin.line + skipped + line, column: column + indent }))
}

function trimLikeGo(text: string): string {
  return text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, '')
}
