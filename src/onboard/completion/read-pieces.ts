import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { at, type Node, stringAt } from '../../kube/node.ts'
import { groupOf } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/yaml/parse-documents.ts'

/** One object in the folder of a tenant. */
export interface TenantPiece {
  readonly group: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  /** Name of its file inside the folder. */
  readonly file: string
  readonly root: Node
}

/** What somebody wrote into the folder of a tenant. */
export interface TenantPieces {
  readonly objects: readonly TenantPiece[]
  /** What its kustomization lists; undefined without one. */
  readonly listed: readonly string[] | undefined
}

/** It stands in texts and in kustomizations as it is. */
const FILE_NAME = /^[A-Za-z0-9._-]+$/

/** Reads the YAML files of a folder, not those of folders below it. Throws for text that YAML readers read differently. */
export function readPieces(tree: Tree, folder: string, kustomization: string | undefined): TenantPieces {
  const objects: TenantPiece[] = []
  let listed: string[] | undefined
  for (const { name, path, type } of tree.list(folder)) {
    if (type !== 'file' || !/\.ya?ml$/.test(name)) continue
    if (!FILE_NAME.test(name)) {
      throw new BailiwickError('onboard-layout', `${JSON.stringify(path)} is not a plain file name`, {
        fix: 'Use letters, digits, ".", "_" and "-".',
      })
    }
    const roots = parseDocuments({ repository: '', path }, tree.read(path))
    if (path === kustomization) {
      const list = at(roots[0], ['resources'])
      listed = list?.type === 'list' ? list.items.flatMap(textOf) : []
    } else objects.push(...roots.flatMap(root => pieceOf(root, name)))
  }
  return { objects, listed }
}

function pieceOf(root: Node, file: string): TenantPiece[] {
  const kind = stringAt(root, ['kind'])
  const name = stringAt(root, ['metadata', 'name'])
  if (kind === undefined || name === undefined) return []
  const group = groupOf(stringAt(root, ['apiVersion']) ?? '')
  return [{ group, kind, name, namespace: stringAt(root, ['metadata', 'namespace']) ?? '', file, root }]
}

const textOf = (node: Node): string[] =>
  node.type === 'scalar' && typeof node.value === 'string' ? [node.value.replace(/^\.\//, '')] : []
