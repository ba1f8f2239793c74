import type { Verdict } from '../../../src/rules/model/finding.ts'
import { EvaluateSession } from '../../../src/verdict/evaluate-sides.ts'
import { treesOf } from '../../attacks/attack-case.ts'
import { buildTrees, evaluateBuilt } from '../../attacks/evaluate-trees.ts'
import { isNew } from '../../attacks/expectation.ts'
import { longTexts } from '../../report/short-texts.ts'
import { edited, type Recipe, type RecipeBook } from './read-recipes.ts'

/** Evaluates the rows of a document in one session, which keeps its fleet; without a row the fleet as it is. */
export function openRecipes({ world }: RecipeBook): (recipe?: Recipe) => string[] {
  const session = new EvaluateSession()
  const base = buildTrees(treesOf(world), undefined, session)
  return recipe => {
    if (!recipe) return found(evaluateBuilt(base, undefined, session).verdict)
    const head = buildTrees(treesOf(edited(world, recipe.edits)), base, session)
    return found(evaluateBuilt(head, base, session).verdict)
  }
}

/** `level rule file:line` of what is new and of the approvals that are asked for, each once, sorted; and texts that are too long. */
function found(verdict: Verdict): string[] {
  const { violations, warnings, errors, requiredApprovals } = verdict
  const place = ({ file, line }: { readonly file: string; readonly line: number }) => `${file}:${line}`
  const level = (severity: string) => (severity === 'critical' ? 'critical' : 'violation')
  const lines = [
    ...violations.filter(isNew).map(one => `${level(one.severity)} ${one.rule} ${place(one.origin)}`),
    ...warnings.filter(isNew).map(one => `warning ${one.rule} ${place(one.origin)}`),
    // one thing that cannot be built is an error of each object that it hides: the first names it
    ...errors
      .filter(isNew)
      .slice(0, 1)
      .map(one => `error ${one.code} ${place(one.origin)}`),
    ...(errors.some(isNew) ? [] : requiredApprovals).map(one => `approval ${one.rule} ${one.path}`),
  ]
  return [...new Set([...lines, ...longTexts(verdict)])].sort()
}
