import type { FleetIndex } from '../../facts/fleet-index.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import type { KubeObject } from '../../kube/object.ts'
import { type Message, message, untyped } from '../../message/message.ts'

const MAX_WORDS = 1_200

/** The API server's words in a message. They quote what an author wrote: odd characters are shown as their numbers. */
export function serverWords(text: string): Message {
  const plain = text.replace(/[^\x20-\x7e\n]/gu, one => `\\u{${one.codePointAt(0)!.toString(16)}}`)
  return untyped(plain.slice(0, MAX_WORDS))
}

/** What the API server answers the account of a node to an object, as the end of a message; '' where it allows it. */
export function serverAnswer(index: FleetIndex, node: FleetNode, object: KubeObject): Message {
  const words = index.applyRefusal(node.key, object)
  return words === undefined ? message`` : message` API server: ${serverWords(words)}.`
}
