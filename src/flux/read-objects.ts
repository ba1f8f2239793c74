import { BailiwickError } from '../errors.ts'
import { at, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'

/**
 * What Flux makes of a build: anything with a list called `items` is taken for a list and replaced by its items, and
 * kustomization files that were listed as resources are dropped. Throws `invalid-object` for one without identity.
 */
export function readObjects(built: readonly KubeObject[]): KubeObject[] {
  return built.flatMap(object => {
    requireIdentity(object)
    const items = at(object.root, ['items'])
    if (items?.type !== 'list') return isKustomizeConfig(object) ? [] : [object]
    return items.items.map(item => {
      if (item.type !== 'map') fail('an item of a list is no object', object)
      const inner = { root: item, trail: object.trail }
      requireIdentity(inner)
      return inner
    })
  })
}

function isKustomizeConfig({ root }: KubeObject): boolean {
  const kind = stringAt(root, ['kind']) ?? ''
  const apiVersion = stringAt(root, ['apiVersion']) ?? ''
  return kind.toLowerCase() === 'kustomization' && apiVersion.startsWith('kustomize.config.k8s.io/')
}

function requireIdentity(object: KubeObject): void {
  const { apiVersion, kind, name } = idOf(object)
  if (!apiVersion || !kind || !name) fail('an object lacks apiVersion, kind or metadata.name', object)
}

function fail(message: string, object: KubeObject): never {
  throw new BailiwickError('invalid-object', message, {
    origin: object.root.origin,
    fix: 'Every object needs apiVersion, kind and metadata.name.',
  })
}
