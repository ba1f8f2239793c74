import { visible } from '../../message/visible.ts'
import type { Origin } from '../../origin.ts'
import { placeOf } from '../text/place.ts'
import type { FormatContext } from './format-context.ts'

/**
 * `file:line`, which terminals that can open links open (OSC 8) where the file is in the repository at hand. The address is percent-encoded, so
 * that no name of a file ends the sequence. Source: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
 */
export function linkedPlace(origin: Origin, here: string, { folder }: Pick<FormatContext, 'folder'>): string {
  const place = visible(placeOf(origin, here))
  const isHere = origin.repository === here || origin.repository === ''
  if (folder === undefined || !isHere || place === '') return place
  const path = `${folder}/${origin.file}`.toWellFormed().split('/').map(encodeURIComponent).join('/')
  return `\u001b]8;;file://${path}${origin.line > 0 ? `#L${origin.line}` : ''}\u001b\\${place}\u001b]8;;\u001b\\`
}
