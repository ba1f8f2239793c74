import { BailiwickError } from '../errors.ts'
import { FleetIndex } from '../facts/fleet-index.ts'
import { objectPart } from '../facts/shown.ts'
import type { Fleet } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { originAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { plainText } from '../message/message.ts'
import { visible } from '../message/visible.ts'
import { formats } from '../report/formats/formats.ts'
import { placeOf } from '../report/text/place.ts'
import { schemaMismatch } from '../rules/schema/schema-mismatch.ts'
import { type ComparedObject, compareObject } from '../rules/schema/support/compare-object.ts'
import { type ComparedVersion, comparedVersion } from '../rules/schema/support/compared-version.ts'
import { isDecrypted } from '../rules/schema/support/is-decrypted.ts'
import { levelOf } from '../rules/schema/support/mismatches.ts'
import { problemText } from '../rules/schema/support/problem-text.ts'
import type { Problem } from '../schema/model/problem.ts'
import { NEWEST, VERSIONS } from '../schema/types-table.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { fluxSchemaReport } from './flux-schema-report.ts'
import { parseOptions } from './parse-options.ts'
import { programVersion } from './program-version.ts'
import { clustersOf, FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { validateVerdict } from './validate-verdict.ts'

const USAGE =
  'validate [FLEET] [--cluster NAME] [--kubernetes VERSION] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [--strict] [-o FORMAT]'

/** `bailiwick validate`: which rendered objects the API server would refuse, by the types of its own kinds. */
export const validate: Command = {
  name: 'validate',
  usage: `${USAGE}

  --cluster NAME only this cluster (default: all)
  --kubernetes VERSION   such as 1.${NEWEST} (default: as the fleet declares it or its objects say, else the newest one that is known, 1.${NEWEST})
${FLEET_HELP}
  --strict       warnings also give exit code 1
  -o FORMAT      text for people; json, sarif, junit, github (workflow commands), flux-schema (its Report) for programs

Custom kinds are compared with the CustomResourceDefinition that the fleet renders, else with a catalog of well-known projects. Others are counted, not compared. As in check, a problem is a warning if the cluster may accept the object: no version of Kubernetes is given or declared, only the catalog has the kind, or Flux drops the field. Warnings are listed, and change the exit code only with --strict. Exit code 0: the API server certainly refuses no object; 1: it refuses at least one; 2: a Kustomization could not be rendered.`,
  async run(args, io) {
    const options = parseOptions(args, ['cluster', 'kubernetes', ...FLEET_OPTIONS, 'output'], USAGE, ['strict'])
    const [fleetDir = '.', more] = options.positionals
    const output = options.one('output') ?? 'text'
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra FLEET`)
    if (!FORMATS.includes(output))
      throw usage(`-o ${JSON.stringify(visible(output, 100))} is not a format. Allowed: ${FORMATS.join(', ')}`)
    const asked = versionNamed(options.one('kubernetes'))
    const { fleet, here } = await readFleet(options, fleetDir, io.cwd)
    const clusters = clustersOf(fleet, options.one('cluster'), USAGE)
    const results = clusters.map(cluster => validateCluster(fleet, cluster, asked))
    const incomplete = fleet.nodes.filter(node => clusters.includes(node.cluster) && whyIncomplete(node))
    for (const node of incomplete) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    io.stdout(printed(output, results, fleet, here))
    if (incomplete.length > 0) return 2
    const isStrict = options.has('strict')
    return results.some(({ refused }) => refused.some(({ level }) => isStrict || level === 'violation')) ? 1 : 0
  },
}

const FORMATS = ['text', 'json', 'sarif', 'junit', 'github', 'flux-schema']

function printed(output: string, results: readonly ClusterResult[], fleet: Fleet, here: string): string {
  if (output === 'text') return text(results, here)
  if (output === 'json') return json(results)
  const versions = new Map(results.map(({ cluster, version }) => [cluster, version]))
  const version = programVersion()
  if (output === 'flux-schema')
    return fluxSchemaReport(fleet, versions, { version, timestamp: new Date().toISOString() })
  return formats.get(output)!(validateVerdict(fleet, versions), { here, rules: [schemaMismatch], version })
}

interface Refused {
  readonly place: ReturnType<typeof originAt>
  readonly object: string
  readonly field: string
  readonly kind: string
  /** A warning: Flux drops the field, or the cluster may know another release of the kind. */
  readonly level: 'violation' | 'warning'
  readonly message: string
  readonly fix: string
}

interface ClusterResult {
  readonly cluster: string
  readonly kubernetes: string
  /** Neither asked for nor declared. */
  readonly isAssumed: boolean
  readonly version: ComparedVersion
  readonly objects: number
  /** How many objects were not compared, by `<apiVersion> <kind>`. */
  readonly notCompared: Readonly<Record<string, number>>
  /** Values of custom kinds of which a schema says something that could not be decided. */
  readonly undecided: number
  /** Sources whose objects are not visible. */
  readonly notVisible: readonly string[]
  readonly refused: readonly Refused[]
}

function validateCluster(fleet: Fleet, cluster: string, asked: number | undefined): ClusterResult {
  const nodes = fleet.nodes.filter(node => node.cluster === cluster)
  const notCompared: Record<string, number> = Object.create(null)
  let undecided = 0
  const index = new FleetIndex(fleet)
  // what the user chose is as certain as what the fleet declares
  const version =
    asked === undefined ? comparedVersion(fleet.config, index, cluster) : { minor: asked, isCertain: true }
  const definitions = (kind: string) => index.definitionsOf(cluster, kind)
  const objects = nodes.flatMap(node => node.objects.map(object => ({ object, isDecrypted: isDecrypted(node) })))
  const refused = objects.flatMap(({ object, isDecrypted }) => {
    const compared = compareObject(object, version, definitions, isDecrypted)
    const { problems, count, isKnown } = compared.answer
    undecided += compared.answer.undecided ?? 0
    const { apiVersion, kind } = idOf(object)
    if (!isKnown) notCompared[`${apiVersion} ${kind}`] = (notCompared[`${apiVersion} ${kind}`] ?? 0) + 1
    return problems.map((problem, at) => refusedOf(object, problem, compared, at === 0 ? count - problems.length : 0))
  })
  return {
    cluster,
    kubernetes: `1.${version.minor}`,
    isAssumed: !version.isCertain,
    version,
    objects: objects.length,
    notCompared: { ...notCompared },
    undecided,
    notVisible: nodes.filter(({ source }) => source.opaque !== undefined).map(({ key }) => key),
    refused,
  }
}

function refusedOf(object: KubeObject, problem: Problem, compared: ComparedObject, more: number): Refused {
  const { kind, namespace, name } = idOf(object)
  const { message, fix } = problemText(problem, objectPart(kind, namespace, name), compared.server)
  const rest = more > 0 ? ` ${more} more fields of this object are not listed.` : ''
  return {
    place: originAt(object.root, problem.path),
    object: namespace ? `${kind} ${namespace}/${name}` : `${kind} ${name}`,
    field: problem.path.join('.'),
    kind: problem.kind,
    level: levelOf(problem, compared),
    message: `${plainText(message)}${rest}`,
    fix: plainText(fix),
  }
}

function text(results: readonly ClusterResult[], here: string): string {
  const lines = results.flatMap(result => {
    const { cluster, kubernetes, isAssumed, objects, notCompared, undecided, notVisible, refused } = result
    const others = Object.entries(notCompared)
    const count = others.reduce((sum, [, number]) => sum + number, 0)
    return [
      visible(
        `${cluster} (Kubernetes ${kubernetes}${isAssumed ? ', assumed' : ''}): ${objects} objects, ${refused.length} problems`,
      ),
      ...refused.flatMap(({ place, level, message, fix }) => [
        visible(`  ${placeOf(place, here)}:${place.column}: ${level}`, 300),
        visible(`    ${message} ${fix}`, 1000),
      ]),
      ...(count > 0 ? [visible(`  not compared: ${count} objects of ${others.length} custom kinds`)] : []),
      ...(undecided > 0 ? [visible(`  undecided: ${undecided} values of custom kinds`)] : []),
      ...notVisible.map(key => visible(`  not visible: ${key}`)),
    ]
  })
  return `${lines.join('\n')}\n`
}

function json(results: readonly ClusterResult[]): string {
  const clusters = results.map(({ refused, version: _version, ...rest }) => ({
    ...rest,
    refused: refused.map(({ place: { repository, file, line, column }, ...one }) => ({
      ...one,
      ...{ repository, file, line, column },
    })),
  }))
  return `${JSON.stringify({ clusters }, null, 2)}\n`
}

function versionNamed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const minor = VERSIONS.find(version => text === `1.${version}` || text === `v1.${version}`)
  if (minor !== undefined) return minor
  const allowed = VERSIONS.map(version => `1.${version}`).join(', ')
  throw usage(`--kubernetes ${JSON.stringify(visible(text, 100))} is not a known version. Allowed: ${allowed}`)
}

function usage(message: string): BailiwickError {
  return new BailiwickError('usage', message, { fix: `usage: bailiwick ${USAGE}` })
}
