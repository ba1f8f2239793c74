import { BailiwickError } from '../errors.ts'
import { editText, type TextEdit } from '../fix/edit-text.ts'
import type { Tree } from '../git/tree.ts'
import { at } from '../kube/node.ts'
import { display, idOf, type KubeObject } from '../kube/object.ts'
import type { Origin } from '../origin.ts'
import { textOf } from './place-manifest.ts'

/**
 * The files in which objects are written, with `spec.serviceAccountName` added to each; every other character stays. Throws
 * `adopt-layout` for an object whose text cannot be edited with certainty.
 */
export function setAccount(
  tree: Tree,
  url: string,
  objects: readonly KubeObject[],
  account: string,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>()
  const lines = new Set<string>()
  // from the end of a file to its beginning: the lines above stay where they are
  for (const object of [...objects].sort((a, b) => lineOf(b) - lineOf(a))) {
    const spec = object.root.fields.get('spec')
    const { repository, file } = object.root.origin
    const place = spec && `${file}:${spec.key.line}`
    if (place !== undefined && lines.has(place)) continue
    const isOwn = repository === '' || repository === url
    const text = isOwn && tree.entry(file)?.type === 'file' ? (texts.get(file) ?? textOf(tree, file)) : undefined
    const edit = text === undefined ? undefined : editOf(text, object, account)
    if (text === undefined || edit === undefined || place === undefined) throw notEditable(object, account)
    const all = text.split('\n')
    texts.set(file, [...all.slice(0, edit.first - 1), ...edit.lines, ...all.slice(edit.last)].join('\n'))
    lines.add(place)
  }
  return texts
}

function editOf(text: string, { root }: KubeObject, account: string): TextEdit | undefined {
  const field = '/spec/serviceAccountName'
  const written = at(root, ['spec', 'serviceAccountName'])
  const spec = root.fields.get('spec')
  if (written) return editText(text, { field, ...positionOf(written.origin) }, { set: account })
  return spec && editText(text, { field, ...positionOf(spec.key) }, { add: account })
}

const positionOf = ({ line, column }: Origin) => ({ line, column })

const lineOf = ({ root }: KubeObject) => root.fields.get('spec')?.key.line ?? 0

function notEditable(object: KubeObject, account: string): BailiwickError {
  return new BailiwickError(
    'adopt-layout',
    `${display(idOf(object))}: spec.serviceAccountName cannot be added to its text`,
    {
      fix: `Write its spec as a plain YAML map of this repository, or add \`serviceAccountName: ${account}\` by hand and bind the account.`,
      origin: object.root.origin,
    },
  )
}
