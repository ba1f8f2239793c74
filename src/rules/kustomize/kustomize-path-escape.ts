import { objectPart, quoted } from '../../facts/shown.ts'
import type { Subject } from '../../facts/subject.ts'
import {
  ARTIFACT_GENERATOR,
  GIT_REPOSITORY,
  HELM_CHART,
  HELM_RELEASE,
  IMAGE_UPDATE_AUTOMATION,
  KUSTOMIZATION,
} from '../../flux/kinds.ts'
import { at, type Path, stringAt } from '../../kube/node.ts'
import { joinPath } from '../../kustomize/paths/resolve-path.ts'
import { message } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { pathsOfOthers } from './support/paths-of-others.ts'
import { sharedPaths } from './support/shared-paths.ts'

/** No path of a tenant leads out of what is theirs. The renderer raises it for overlays that leave the repository. */
export const kustomizePathEscape: Rule = {
  id: 'kustomize-path-escape',
  severity: 'critical',
  title: "Path outside the tenant's directories",
  why: "A path that leaves the repository reads files of the machine that renders. In a repository of several tenants, a path into another tenant's directory deploys or exposes that tenant's files. A path with `..` hides its target.",
  source: 'CVE-2022-24877, CVE-2022-24348',
  docs: "Name directories below the tenant's own, without `..` in `spec.path` of a Kustomization. Overlays may use shared bases and components that the platform keeps beside the tenant's directory.",
  kinds: [KUSTOMIZATION, HELM_RELEASE, HELM_CHART, IMAGE_UPDATE_AUTOMATION, ARTIFACT_GENERATOR, GIT_REPOSITORY],
  *checkTenantObject(subject, { index }) {
    yield* pathsOfOthers(subject, index)
    for (const path of pathsOf(subject)) {
      const text = stringAt(subject.object.root, path)
      const problem = text === undefined ? undefined : problemOf(subject.kind, path, text)
      if (problem !== undefined) yield violation(subject, path, text!, problem)
    }
  },
  checkRepository: (repository, { index }) => sharedPaths(repository, index),
}

/** Fields that hold a path in a source. */
function pathsOf({ kind, object }: Subject): Path[] {
  if (kind === KUSTOMIZATION) return [['spec', 'path']]
  if (kind === IMAGE_UPDATE_AUTOMATION) return [['spec', 'update', 'path']]
  if (kind === ARTIFACT_GENERATOR || kind === GIT_REPOSITORY) return []
  const spec = kind === HELM_RELEASE ? ['spec', 'chart', 'spec'] : ['spec']
  const files = at(object.root, [...spec, 'valuesFiles'])
  const indices = files?.type === 'list' ? [...files.items.keys()] : []
  return [[...spec, 'chart'], [...spec, 'valuesFile'], ...indices.map(index => [...spec, 'valuesFiles', index])]
}

function problemOf(kind: string, path: Path, text: string) {
  const plain = decoded(text).replaceAll('\\', '/')
  if (/^[a-z][a-z0-9+.-]*:/i.test(plain)) return 'is an address, not a path'
  if (joinPath('', plain) === undefined) return 'leads outside the source'
  const isFile = path.includes('valuesFiles') || path.includes('valuesFile')
  if (isFile && plain.startsWith('/')) return 'is absolute'
  const isSpec = kind === KUSTOMIZATION || kind === IMAGE_UPDATE_AUTOMATION
  return isSpec && plain.split('/').includes('..') ? 'contains ".."' : undefined
}

/** As a careless reader might take it. */
function decoded(text: string): string {
  return text.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '\\')
}

function violation(
  { object, id, node }: Subject,
  path: Path,
  text: string,
  problem: NonNullable<ReturnType<typeof problemOf>>,
): Violation {
  const who = objectPart(id.kind, id.namespace, id.name)
  return {
    node,
    object,
    path,
    value: text,
    message: message`${quoted('field', path.join('.'))} of ${who} is ${quoted('value', text)}, which ${problem}. Allowed: paths below the root of the source. Flux would stay below the root and read another file.`,
    fix: message`Write the path relative to the root of the source, without "..".`,
  }
}
