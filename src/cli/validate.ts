import { FleetIndex } from '../facts/fleet-index.ts'
import { objectPart } from '../facts/shown.ts'
import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { whyIncomplete } from '../fleet/model/why-incomplete.ts'
import { originAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { plainText } from '../message/message.ts'
import { visible } from '../message/visible.ts'
import { formats } from '../report/formats/formats.ts'
import { schemaMismatch } from '../rules/schema/schema-mismatch.ts'
import { type ComparedObject, compareObject } from '../rules/schema/support/compare-object.ts'
import { comparedVersion } from '../rules/schema/support/compared-version.ts'
import { isDecrypted } from '../rules/schema/support/is-decrypted.ts'
import { levelOf } from '../rules/schema/support/mismatches.ts'
import { problemText } from '../rules/schema/support/problem-text.ts'
import type { Problem } from '../schema/model/problem.ts'
import { NEWEST, VERSIONS } from '../schema/types-table.ts'
import type { Command } from './command.ts'
import { errorLine } from './error-line.ts'
import { fleetPart, PART_HELP, PART_OPTIONS } from './fleet-part.ts'
import { fluxSchemaReport } from './flux-schema-report.ts'
import { parseOptions } from './parse-options.ts'
import { printLines } from './print-lines.ts'
import { programVersion } from './program-version.ts'
import { FLEET_HELP, FLEET_OPTIONS, readFleet } from './read-fleet.ts'
import { usageError } from './usage-error.ts'
import { type ClusterProblems, type FieldProblem, validateJson, validateLines } from './validate-text.ts'
import { validateVerdict } from './validate-verdict.ts'

const USAGE =
  'validate [FLEET] [--cluster NAME]... [--tenant NAME]... [--kubernetes VERSION] [--repo URL[#REF]=DIR]... [--repos-dir DIR] [--strict] [-o FORMAT]'

/** `bailiwick validate`: which rendered objects the API server would refuse, by the types of its own kinds. */
export const validate: Command = {
  name: 'validate',
  usage: `${USAGE}

${PART_HELP}
  --kubernetes VERSION   such as 1.${NEWEST} (default: the declared version, else 1.${NEWEST}, the newest known)
${FLEET_HELP}
  --strict       warnings also give exit code 1
  -o FORMAT      text for people; json, sarif, github (workflow commands), flux-schema (its Report) for programs

Custom kinds are compared with the CustomResourceDefinition that the fleet renders, else with a catalog of well-known projects. Others are counted, not compared. As in check, a problem is a warning if the cluster may accept the object. That is so where no version of Kubernetes is given or declared and one accepts it. It is so too where only the catalog has the kind, or Flux drops the field. Warnings are listed, and change the exit code only with --strict. Exit code 0: the API server certainly refuses no object; 1: it refuses at least one; 2: a Kustomization could not be rendered.`,
  async run(args, io) {
    const options = parseOptions(args, [...PART_OPTIONS, 'kubernetes', ...FLEET_OPTIONS, 'output'], USAGE, ['strict'])
    const [fleetDir = '.', more] = options.positionals
    const output = options.format(FORMATS)
    if (more !== undefined) throw usage(`${JSON.stringify(more)} is an extra FLEET`)
    const asked = versionNamed(options.one('kubernetes'))
    const { fleet, here } = await readFleet(options, fleetDir, io.cwd)
    const part = fleetPart(fleet, options, USAGE)
    const nodes = fleet.nodes.filter(part.has)
    const results = part.clusters.map(cluster => validateCluster(fleet, cluster, nodes, asked))
    const incomplete = nodes.filter(node => whyIncomplete(node))
    for (const node of incomplete) io.stderr(`${errorLine(whyIncomplete(node)!)}\n`)
    if (output === 'text') printLines(io, [...validateLines(results, here), ...part.leftOut])
    else io.stdout(printed(output, results, fleet, nodes, here))
    if (incomplete.length > 0) return 2
    const isStrict = options.has('strict')
    return results.some(({ refused }) => refused.some(({ level }) => isStrict || level === 'violation')) ? 1 : 0
  },
}

const FORMATS = ['text', 'json', 'sarif', 'github', 'flux-schema'] as const

function printed(
  output: string,
  results: readonly ClusterProblems[],
  fleet: Fleet,
  nodes: readonly FleetNode[],
  here: string,
): string {
  if (output === 'json') return validateJson(results)
  const versions = new Map(results.map(({ cluster, version }) => [cluster, version]))
  const version = programVersion()
  if (output === 'flux-schema')
    return fluxSchemaReport(fleet, nodes, versions, { version, timestamp: new Date().toISOString() })
  return formats.get(output)!(validateVerdict(fleet, nodes, versions), { here, rules: [schemaMismatch], version })
}

function validateCluster(
  fleet: Fleet,
  cluster: string,
  selected: readonly FleetNode[],
  asked: number | undefined,
): ClusterProblems {
  const nodes = selected.filter(node => node.cluster === cluster)
  const notCompared: Record<string, number> = Object.create(null)
  let undecided = 0
  const index = new FleetIndex(fleet)
  // what the user chose is as certain as what the fleet declares
  const known = comparedVersion(fleet.config, index, cluster)
  const version = asked === undefined ? known : { minor: asked, isCertain: true, flux: known.flux }
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

function refusedOf(object: KubeObject, problem: Problem, compared: ComparedObject, more: number): FieldProblem {
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

function versionNamed(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const minor = VERSIONS.find(version => text === `1.${version}` || text === `v1.${version}`)
  if (minor !== undefined) return minor
  const allowed = VERSIONS.map(version => `1.${version}`).join(', ')
  throw usage(`--kubernetes ${JSON.stringify(visible(text, 100))} is not a known version. Allowed: ${allowed}`)
}

const usage = (message: string) => usageError(USAGE, message)
