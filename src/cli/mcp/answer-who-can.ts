import { knownResources } from '../../access/known-names.ts'
import { whoCan } from '../../access/who-can.ts'
import { BailiwickError } from '../../errors.ts'
import { placeOf, resourceArgument } from '../resource-argument.ts'
import { openFleet } from './open-fleet.ts'
import type { Roots } from './open-roots.ts'
import type { ToolArguments } from './read-arguments.ts'

/** Answers the tool `who_can`: who may do something in a namespace of each cluster. */
export async function answerWhoCan(given: ToolArguments, roots: Roots) {
  const [verb, resource, namespace] = [given.one('verb'), given.one('resource'), given.text('namespace')]
  if (verb === undefined || resource === undefined) {
    throw new BailiwickError('usage', 'verb and resource belong together', { fix: 'Give both, or neither.' })
  }
  const { fleet, clusters, index, unknown } = await openFleet(given, roots)
  const asked = resourceArgument(verb, resource, knownResources(fleet, clusters))
  const place = placeOf(asked, verb, namespace ?? '')
  const request = { verb, apiGroup: asked.group, resource: asked.resource, namespace: place, name: asked.name }
  return { request, clusters: clusters.map(cluster => whoCan(fleet, index, cluster, request)), unknown }
}
