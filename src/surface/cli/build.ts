import { visible } from '../../base/visible.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { Command } from './command.ts'
import { FLEET, fleetPart, PART, readFleet } from './read-fleet.ts'
import { type Exact, exactJson, exactOf, yamlText } from './rendering.ts'
import { errorLine } from './terminal.ts'

/** `bailiwick build`: what each Flux Kustomization of a cluster renders, across repositories. */
export const build: Command = {
  name: 'build',
  usage: [
    ['--cluster NAME', 'the cluster; no other is built'],
    PART[1],
    ...FLEET,
    ['[-o yaml|json]', 'yaml for people and kubectl, json for programs: one array of Kustomizations'],
  ],
  async run(given, io) {
    const { fleet } = await readFleet(given, io.cwd, { only: given.one('cluster') })
    const nodes = fleet.nodes.filter(fleetPart(fleet, given).has)
    io.stdout(given.format === 'json' ? `${exactJson(nodes.map(nodeJson), 2)}\n` : nodesYaml(nodes))
    const errors = new Set(nodes.flatMap(({ error, holes = [] }) => [error, ...holes.map(hole => hole.error)]))
    errors.delete(undefined)
    for (const error of errors) if (error) io.stderr(`${errorLine(error)}\n`)
    for (const { key, source } of nodes) {
      if (source.opaque !== undefined)
        io.stderr(`not visible: ${visible(`${key} (${source.url}), ${source.opaque}`)}\n`)
    }
    return errors.size > 0 ? 2 : 0
  },
}

function nodeJson({ namespace, name, source, path, identity, tenant, suspend, objects, error }: FleetNode): Exact {
  return {
    namespace,
    name,
    source: { id: source.id, url: source.url, ...(source.opaque === undefined ? {} : { notSeen: source.opaque }) },
    path,
    identity: identity.user,
    ...(tenant === undefined ? {} : { tenant }),
    suspend,
    ...(error ? { error: { code: error.code, message: error.message } } : {}),
    objects: objects.map(object => exactOf(object.root)),
  }
}

/** One stream of documents; a comment names the Kustomization of those that follow it. */
function nodesYaml(nodes: readonly FleetNode[]): string {
  return nodes
    .map(node => {
      const { namespace, name, source, path, identity } = node
      const title = visible(`Kustomization ${namespace}/${name}: ${path || '.'} of ${source.url || source.id}`)
      const documents = yamlText(node.objects.map(object => exactOf(object.root)))
      return `---\n# ${title}, applied as ${visible(identity.user)}\n${documents}`
    })
    .join('')
}
