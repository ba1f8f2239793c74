import { objectPart, quoted } from '../../../facts/shown.ts'
import type { Subject } from '../../../facts/subject.ts'
import { at, type MapNode, type Path, stringAt } from '../../../kube/node.ts'
import { probably } from '../../../message/closest.ts'
import { message, part } from '../../../message/message.ts'
import type { Problem } from '../../../schema/model/problem.ts'
import type { Edit } from '../../model/finding.ts'
import type { Violation } from '../../model/rule.ts'
import { ACCEPTED } from './accepted.ts'
import type { ComparedObject } from './compare-object.ts'
import { problemText } from './problem-text.ts'
import { renamedKey } from './renamed-key.ts'

/** Each place of an object that the cluster refuses, or may refuse. */
export function* mismatches(
  { object, id, node }: Pick<Subject, 'object' | 'id' | 'node'>,
  compared: ComparedObject,
): Iterable<Violation> {
  const { problems, count } = compared.answer
  const who = objectPart(id.kind, id.namespace, id.name)
  for (const problem of problems) {
    if (compared.isCatalog && mayBeNewer(object.root, problem)) continue
    yield {
      node,
      object,
      level: levelOf(problem, compared),
      path: problem.path,
      value: problemKey(problem),
      ...problemText(problem, who, compared.server),
      ...(problem.kind === 'not-allowed' && problem.names ? { allowed: problem.names } : {}),
      ...editOf(object.root, problem, compared),
    }
  }
  for (const { path, rule, why } of compared.isCatalog ? [] : (compared.answer.notEvaluated ?? [])) {
    yield {
      node,
      object,
      level: 'warning',
      path,
      value: `rule not evaluated ${path.join('.')} ${rule}`,
      message: message`${who}: a rule of ${compared.server} was not evaluated: ${quoted('value', why)}. The rule is ${part('value', rule)}.`,
      fix: message`Check on the cluster whether the API server accepts the object.`,
    }
  }
  if (count <= problems.length) return
  yield {
    node,
    object,
    level: compared.isCertain ? 'violation' : 'warning',
    path: [],
    value: 'more',
    message: message`${who}: ${count - problems.length} more fields do not match ${compared.server}. The first ${problems.length} are listed.`,
    fix: message`Correct the listed fields first.`,
  }
}

/** Includes the rule text because two rules may refuse the same field. */
const problemKey = ({ kind, path, allowed }: Problem): string =>
  `${kind} ${path.join('.')}${kind === 'rule' ? ` ${allowed}` : ''}`

/** A problem is a violation if the cluster certainly refuses the object, or Flux drops a part of it, and otherwise a warning. */
function levelOf(
  problem: Problem,
  { isCertain, refusedByAll = [] }: Pick<ComparedObject, 'isCertain' | 'refusedByAll'>,
): 'violation' | 'warning' {
  const isPart = problem.kind === 'dropped-field' && problem.path.length === 1
  const isRefused = isPart || !ACCEPTED.includes(problem.kind)
  // a mutating webhook can add what is missing before the API server validates, and corrects nothing that is wrong
  const isRefusedByAll = problem.kind !== 'missing-field' && refusedByAll.includes(problem)
  return isRefused && (isCertain || isRefusedByAll) ? 'violation' : 'warning'
}

/** A field or word that the definition does not know, and none like it: the cluster may run a later release that does. */
function mayBeNewer(root: MapNode, problem: Problem): boolean {
  const { kind, path, names = [] } = problem
  if (kind === 'unknown-field') return probably(String(path.at(-1)), names) === undefined
  if (kind !== 'not-allowed') return false
  const written = stringAt(root, path)
  return written === undefined || probably(written, names) === undefined
}

/** A word that differs from an allowed one in case alone is meant to be that one; a key that resembles one alone is renamed. */
function editOf(root: MapNode, problem: Problem, compared: ComparedObject): { edit?: Edit } {
  const { kind, path, names = [] } = problem
  if (kind === 'unknown-field' || kind === 'dropped-field') return renaming(root, problem, compared)
  const written = kind === 'not-allowed' ? stringAt(root, path)?.toLowerCase() : undefined
  const [meant, ...others] = names.filter(name => name.toLowerCase() === written)
  return meant === undefined || others.length > 0 ? {} : { edit: { set: meant } }
}

/** Certain only if the map has no such key yet, and the value is one that is valid there. */
function renaming(
  root: MapNode,
  { path, names = [], since, until }: Problem,
  { again, answer }: ComparedObject,
): { edit?: Edit } {
  const key = String(path.at(-1))
  const alike = names.filter(name => probably(key, [name]) !== undefined)
  const [meant] = alike
  const start = path.slice(0, -1)
  const parent = at(root, start)
  if (meant === undefined || alike.length > 1 || since !== undefined || until !== undefined) return {}
  if (parent?.type !== 'map' || parent.fields.has(meant)) return {}
  const renamed = renamedKey(root, path, meant)
  if (!renamed) return {}
  const after = again(renamed)
  const isValid = after.problems.every(one => !startsWith(one.path, [...start, meant]))
  return isValid && after.count < answer.count ? { edit: { rename: meant } } : {}
}

const startsWith = (path: Path, start: Path) => start.every((step, at) => path[at] === step)
