import { visible } from '../../message/visible.ts'
import type { Origin } from '../../origin.ts'
import { placeOf } from '../text/place.ts'
import type { FormatContext } from './format-context.ts'

/**
 * `file:line`, as a link (OSC 8) if the terminal supports links and the file is in the local repository. The URL is percent-encoded, so
 * that a file name cannot end the escape sequence. Source: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
 */
export function linkedPlace(origin: Origin, here: string, { folder }: Pick<FormatContext, 'folder'>): string {
  const place = visible(placeOf(origin, here))
  const isHere = origin.repository === here || origin.repository === ''
  if (folder === undefined || !isHere || place === '') return place
  const path = `${folder}/${origin.file}`.toWellFormed().split('/').map(encodeURIComponent).join('/')
  return `\u001b]8;;file://${path}${origin.line > 0 ? `#L${origin.line}` : ''}\u001b\\${place}\u001b]8;;\u001b\\`
}
