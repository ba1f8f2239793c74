import { BailiwickError } from '../../errors.ts'
import { currentId, describe, type Resource, resourceOrigin } from './resource.ts'
import type { ResourceList } from './resource-list.ts'

/** Adds a generated object, or lets it take part in one that exists; which of the two its `behavior` says. */
export function absorb(resources: ResourceList, generated: Resource): void {
  const id = currentId(generated)
  const [old] = resources.findByAnyId(id)
  const { behavior } = generated
  const origin = resourceOrigin(generated)
  if (!old && behavior !== 'merge' && behavior !== 'replace') {
    resources.append(generated)
    return
  }
  if (!old) throw new BailiwickError('kustomize-invalid', `no ${describe(id)} to ${behavior}`, { origin })
  if (behavior === 'merge' || behavior === 'replace') {
    throw new BailiwickError('kustomize-unsupported', `behavior ${behavior} of configMapGenerator`, { origin })
  }
  const message = `${describe(id)} exists already; behavior must be merge or replace`
  throw new BailiwickError('kustomize-invalid', message, { origin })
}
