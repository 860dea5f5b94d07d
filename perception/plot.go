package perception

func plotTrace(it Item, o PreviewOptions) (*Preview, error) { return nil, ErrNoPreview }
