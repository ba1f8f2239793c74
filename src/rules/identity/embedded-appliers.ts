import { BailiwickError } from '../../errors.ts'
import { applierKinds } from '../../fleet/appliers.ts'
import { at, type Node, type Path, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { parseDocuments } from '../../kube/parse-documents.ts'
import { everyMap } from '../every-map.ts'

/** Kinds whose objects hold others, which a controller makes of them. */
export const embeddingKinds: readonly string[] = [
  'fluxcd.controlplane.io/ResourceSet',
  'capsule.clastix.io/TenantResource',
]

/** An object inside of another one. */
export interface EmbeddedApplier {
  readonly object: KubeObject
  /** Where it stands; a template in a text is one place. */
  readonly path: Path
  readonly inText: boolean
}

/** What an object of `embeddingKinds` holds that Flux would apply things for, however deep. */
export function* embeddedAppliers({ root, trail }: KubeObject): Iterable<EmbeddedApplier> {
  const spec = at(root, ['spec'])
  if (!spec) return
  for (const { path, node } of everyMap(spec)) {
    if (isApplier(node)) yield { object: { root: node, trail }, path: ['spec', ...path], inText: false }
  }
  const path = ['spec', 'resourcesTemplate']
  for (const document of parsed(stringAt(root, path) ?? '')) {
    if (document.type === 'map' && isApplier(document)) yield { object: { root: document, trail }, path, inText: true }
  }
}

function isApplier(node: Node): boolean {
  const kind = stringAt(node, ['kind'])
  return kind !== undefined && applierKinds.includes(`${groupOf(stringAt(node, ['apiVersion']) ?? '')}/${kind}`)
}

/** A template is seldom YAML as it is; what is not says nothing here. */
function parsed(text: string): readonly Node[] {
  if (text === '') return []
  try {
    return parseDocuments({ repository: '', path: 'resourcesTemplate' }, Buffer.from(text))
  } catch (error) {
    if (error instanceof BailiwickError) return []
    throw error
  }
}

/** The namespace of an embedded object: its own, else that of the object which holds it. */
export function namespaceWithin({ object }: EmbeddedApplier, holder: KubeObject): string {
  return idOf(object).namespace || idOf(holder).namespace
}
