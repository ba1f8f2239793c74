import type { Change } from './cases.ts'

const FIELD = '{type: integer, default: 1, enum: [1, 2]}'
const OBJECT = `{type: object, properties: {spec: {type: object, properties: {size: ${FIELD}}}}}`
const PATH = 'spec.versions.0.schema.openAPIV3Schema'

/** Lines of `<schema of a field> => <kind of problem> <place in it>`, or `=> accepted`, as changes of a definition. */
export const rowsOfFields = (text: string): Change[] => rowsOf(text, FIELD, `${PATH}.properties.spec.properties.size`)

/** The same with schemas of a whole object. */
export const rowsOfObjects = (text: string): Change[] => rowsOf(text, OBJECT, PATH)

const rowsOf = (text: string, replaced: string, path: string): Change[] =>
  text
    .trim()
    .split('\n')
    .map(line => {
      const [schema = '', answer = ''] = line.split(' => ')
      const problem = answer.replace(' ', ` ${path}.`)
      return [`schema ${schema}`, 'CustomResourceDefinition', replaced, schema, answer === 'accepted' ? '' : problem]
    })
