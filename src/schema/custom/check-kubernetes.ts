import { type MapNode, stringAt } from '../../kube/node.ts'
import { checkObject, type SchemaAnswer, VALID } from '../check-object.ts'
import type { Problem } from '../model/problem.ts'
import { MAX_PROBLEMS } from '../type-walk.ts'
import { definitionProblems } from './definition-problems.ts'

/** As `checkObject`, and what the API server refuses in the schemas of a CustomResourceDefinition. */
export function checkKubernetes(root: MapNode, circumstances: Parameters<typeof checkObject>[1] = {}): SchemaAnswer {
  const answer = checkObject(root, circumstances)
  if (answer === VALID || !answer.isKnown || stringAt(root, ['kind']) !== 'CustomResourceDefinition') return answer
  const found: Problem[] = []
  definitionProblems(root, problem => found.push(problem))
  if (found.length === 0) return answer
  const problems = [...answer.problems, ...found].slice(0, MAX_PROBLEMS)
  return { ...answer, problems, count: answer.count + found.length }
}
