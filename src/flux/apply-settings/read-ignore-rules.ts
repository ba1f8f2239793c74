import { BailiwickError } from '../../errors.ts'
import type { Path } from '../../kube/node.ts'
import { matchesSelector } from '../../kustomize/select/match-selector.ts'
import { checkPattern } from '../../kustomize/select/pattern.ts'
import type { IgnoreRule, IgnoreTarget } from './apply-settings.ts'
import type { SettingsReader } from './settings-reader.ts'

const PATTERNS = ['group', 'version', 'kind', 'name', 'namespace'] as const
const SELECTORS = ['labelSelector', 'annotationSelector'] as const
const NO_LABELS: ReadonlyMap<string, string> = new Map()
/** RFC 6901: nothing, or steps that begin with a slash, in which a tilde is escaped. */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/
/** What names an object, or holds all of it: an apply without it is not of this object. */
const IDENTITY =
  /^\/(?:apiVersion|kind|metadata|metadata\/(?:name|namespace|uid|resourceVersion|managedFields(?:\/.*)?))$/

/** `spec.ignore` of a Kustomization: JSON pointers, and regular expressions and selectors as in patch targets. */
export function readIgnoreRules(reader: SettingsReader, list: Path): IgnoreRule[] {
  return reader.items(list).map(rule => {
    const paths = reader.items([...rule, 'paths']).flatMap(path => pointerAt(reader, path))
    if (!reader.has([...rule, 'target'])) return { paths }
    return { paths, target: readTarget(reader, [...rule, 'target']) }
  })
}

function pointerAt(reader: SettingsReader, path: Path): string[] {
  const pointer = reader.required(path)
  if (pointer === '') return []
  if (POINTER.test(pointer) && !IDENTITY.test(pointer)) return [pointer]
  reader.refuse(path, 'a JSON pointer (RFC 6901) to a field below spec, data, or metadata.labels or annotations')
  return []
}

function readTarget(reader: SettingsReader, target: Path): IgnoreTarget {
  const read: Partial<Record<keyof IgnoreTarget, string>> = {}
  for (const key of [...PATTERNS, ...SELECTORS]) {
    const path = [...target, key]
    const text = reader.text(path)
    if (text === undefined) continue
    read[key] = text
    const isSelector = SELECTORS.some(one => one === key)
    if (!isReadable(text, isSelector))
      reader.refuse(path, isSelector ? 'a label selector' : 'a regular expression of Go')
  }
  return read
}

function isReadable(text: string, isSelector: boolean): boolean {
  const entry = { text, origin: { repository: '', file: '', line: 1, column: 1 } }
  try {
    if (isSelector) matchesSelector(entry, NO_LABELS)
    else checkPattern(entry)
    return true
  } catch (error) {
    if (error instanceof BailiwickError) return false
    throw error
  }
}
