// The pieces of an exposure's run: whole at first, then what each cut leaves (brief 2.2).
import { derivedUuid, type Uuid } from '../../kernel/locators.ts'
import { earlier, type Span } from '../../kernel/time.ts'
import type { ExposureRun } from '../records/aggregate.ts'

/** The exposure characteristics of the contract; they follow from the run and its cuts and have no rows. */
export type ExposurePiece = Span & {
  readonly run: ExposureRun
  readonly locator: Uuid
  readonly madeBy: Uuid
  readonly replacedBy: Uuid | undefined
}

/** Every piece that the run ever had; `order` is the line of modifications, in which cuts count. */
export function exposurePieces(
  run: ExposureRun,
  order: ReadonlyMap<Uuid, number>,
  shard: number,
): ExposurePiece[] {
  const cuts = run.cuts.filter(cut => order.has(cut.by)).sort((a, b) => order.get(a.by)! - order.get(b.by)!)
  const pieces: ExposurePiece[] = []
  let piece: ExposurePiece = {
    start: run.start,
    end: run.end,
    run,
    locator: run.locator,
    madeBy: run.madeBy,
    replacedBy: undefined,
  }
  for (const cut of cuts) {
    pieces.push({ ...piece, replacedBy: cut.by })
    if (cut.from <= run.start) return pieces
    piece = {
      ...piece,
      end: earlier(piece.end, cut.from),
      locator: derivedUuid(shard, run.locator, cut.by),
      madeBy: cut.by,
      replacedBy: undefined,
    }
  }
  return [...pieces, piece]
}

/** Whether the piece holds at that time as it is known when the step has been taken. */
export const holdsAt = (
  piece: ExposurePiece,
  at: Span['start'],
  step: number,
  order: ReadonlyMap<Uuid, number>,
): boolean =>
  piece.start <= at &&
  at < piece.end &&
  order.get(piece.madeBy)! <= step &&
  (piece.replacedBy === undefined || order.get(piece.replacedBy)! > step)
