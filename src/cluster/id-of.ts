import type { Json } from '../kube/node.ts'
import type { ObjectId } from '../kube/object.ts'
import { stringAt } from './json-at.ts'

/** What names an object of plain JSON; a part that is no text is ''. */
export function idOf(object: Json): ObjectId {
  return {
    apiVersion: stringAt(object, 'apiVersion'),
    kind: stringAt(object, 'kind'),
    namespace: stringAt(object, 'metadata', 'namespace'),
    name: stringAt(object, 'metadata', 'name'),
  }
}
