import { ANYTHING, type CustomSchema } from './custom-schema.ts'

const STEP = /\.([^.[\]'"\\\s]+)|\['([^'\\]*)'\]/y

/** Whether the `fieldPath` of a rule certainly leads to no field (k8s.io/apiextensions-apiserver, pkg/apiserver/schema/cel, ValidFieldPath). */
export function fieldPathRefusal(text: string, schema: CustomSchema): boolean {
  if (/[\\"\s]/.test(text.trim())) return false
  let here: CustomSchema | undefined = schema
  for (STEP.lastIndex = 0; STEP.lastIndex < text.length; ) {
    const match = STEP.exec(text)
    if (!match) return true
    const name = match[1] ?? match[2] ?? ''
    const below: CustomSchema | undefined = here?.properties.get(name) ?? here?.additional
    if (below === undefined) return here?.isOpen !== true
    if (below === ANYTHING) return false
    here = below
  }
  return false
}
