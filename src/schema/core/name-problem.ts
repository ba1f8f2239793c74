import type { MapNode } from '../../kube/node.ts'
import type { Problem } from '../model/problem.ts'
import { badValue, mapIn, textIn } from './read-field.ts'
import { FORMS, type FormName } from './texts.ts'

/** The problem of an object's name; a missing name is left to kustomize. */
export function nameProblem(root: MapNode, form: FormName, longest = Infinity): Problem | undefined {
  const name = textIn(mapIn(root, 'metadata'), 'name')
  if (name === undefined || name === '') return undefined
  const path = ['metadata', 'name']
  if (!FORMS[form].fits(name)) return badValue(path, FORMS[form].allowed, 'a name of another form')
  return name.length > longest ? badValue(path, `at most ${longest} characters`, 'a longer name') : undefined
}
