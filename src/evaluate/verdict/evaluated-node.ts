import { oncePer } from '../../facts/once-per.ts'
import { objectTexts } from '../../fleet/graph/object-texts.ts'
import type { FleetNode, IncludedSource } from '../../fleet/model/fleet.ts'
import { sourceRevision } from '../../fleet/sources/source-revision.ts'
import { readApplySettings } from '../../flux/apply-settings/read-apply-settings.ts'
import { type FieldLines, fieldLines } from '../../kube/field-lines.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { SourceLine } from '../../origin.ts'
import type { EvaluatedNode, Finding, NodeFailure } from '../../rules/model/finding.ts'
import { releasesIn } from './evaluated.ts'
import { readDecryption } from './read-decryption.ts'
import { refusedFields } from './refused-fields.ts'

/** A node with what was found in it, as plain data for whoever applies it. */
export function evaluatedNode(
  node: FleetNode,
  findings: readonly Finding[],
  failures: readonly NodeFailure[],
): EvaluatedNode {
  const evaluated = cleanNode(node)
  return findings.length === 0 && failures.length === 0 ? evaluated : { ...evaluated, findings, failures }
}

const cleanNode = oncePer((node: FleetNode): EvaluatedNode => {
  const { id, url, ref, commit, tag, originRevision, opaque, artifact, lent, includes, verify } = node.source
  const { decryption, refused } = readDecryption(node)
  const { settings, problems } = readApplySettings(node.kustomization, node.namespace)
  return {
    key: node.key,
    cluster: node.cluster,
    ...(node.hub === undefined ? {} : { hub: node.hub }),
    namespace: node.namespace,
    name: node.name,
    parent: node.parent ?? null,
    user: node.identity.user,
    impersonated: node.identity.impersonated,
    tenant: node.tenant ?? null,
    source: {
      id,
      url,
      commit,
      opaque: opaque ?? null,
      ...(commit === '' || artifact ? {} : { revision: sourceRevision(ref, commit, tag) }),
      ...(originRevision === undefined ? {} : { originRevision }),
      ...(artifact?.assumed === undefined ? {} : { assumed: true }),
      ...(lent ? { lent } : {}),
      ...(verify === undefined ? {} : { verify }),
      ...(includes ? { includes: includes.map(includedPart) } : {}),
    },
    ...(node.charts ? { charts: node.charts.map(partOf) } : {}),
    dependsOn: node.dependsOn,
    suspend: node.suspend,
    prune: node.prune,
    settings,
    ...(problems.length > 0 ? { problems } : {}),
    ...(decryption ? { decryption } : {}),
    ...(node.needs ? { needs: node.needs } : {}),
    digest: node.digest,
    findings: [],
    failures: [],
    objects: objectTexts(node.objects),
    ...(releasesIn(node) === 0 ? {} : { releases: releasesIn(node) }),
    places: placesOf(node.objects),
    lines: linesOf(node.objects),
    declared: placeOf(node.kustomization),
    path: node.path,
    ...(node.holes?.length ? { holes: node.holes.map(({ error }) => error.message) } : {}),
    hides: node.hides ?? [],
    refused: [...refusedFields(node.kustomization, node.objects), ...refused].sort(),
  }
})

const placesOf = oncePer((objects: FleetNode['objects']): readonly SourceLine[] => objects.map(placeOf))

const linesOf = oncePer((objects: FleetNode['objects']): readonly FieldLines[] =>
  objects.map(({ root }) => fieldLines(root)),
)

function placeOf({ root }: KubeObject): SourceLine {
  const { repository, file, line } = root.origin
  return { repository, file, line }
}

/** Flux takes an included artifact only once its own signature is accepted, too. */
const includedPart = ({ id, verify, ...part }: IncludedSource) => ({
  ...partOf({ id, ...part }),
  ...(verify === undefined ? {} : { id, verify }),
})

const partOf = ({ url, commit, lent }: IncludedSource) => ({ url, commit, ...(lent ? { lent } : {}) })
